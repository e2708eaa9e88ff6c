// An SQLite file as a source of rows. The file is untrusted input: it is opened read-only and immutable, with the
// defences that SQLite documents for such files (https://sqlite.org/security.html), and only tables are read, no views.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace cli::nsys {

class Database;

// Rows of a statement, one after the other. Columns are numbered in the order in which they were requested. A column
// that the table lacks is NULL in every row.
class Rows {
 public:
  ~Rows();
  Rows(Rows&& from) noexcept;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Advances to the next row. Returns false after the last one, and where damage begins (Database::damages).
  bool next();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;  // 0 for NULL
  std::optional<std::int64_t> optional(int column) const;
  // Returns `otherwise` for NULL and for values that the type cannot represent.
  template <typename T>
  T number(int column, T otherwise = 0) const {
    const std::int64_t value = integer(column);
    return is_null(column) || !std::in_range<T>(value) ? otherwise : static_cast<T>(value);
  }
  double real(int column) const;
  // Text or the bytes of a blob, valid until next(). "" for NULL.
  std::string_view text(int column) const;

 private:
  friend class Database;
  friend class Texts;
  Rows(Database& database, std::string table, sqlite3_stmt* statement);
  void restart(std::int64_t argument);

  Database* database_;
  std::string table_;
  sqlite3_stmt* statement_;  // null if there is no such table
  std::uint64_t rows_ = 0;
};

class Database {
 public:
  // Throws Error (bad_content or cannot_open).
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  bool has_table(std::string_view table) const { return tables_.find(table) != tables_.end(); }
  bool has_column(std::string_view table, std::string_view column) const;
  bool is_key(std::string_view table, std::string_view column) const;  // the only column of the primary key

  // Returns the rows of a table; none if the file lacks the table. `where` is an SQL condition that names only existing
  // columns, or "".
  Rows rows(std::string_view table, std::initializer_list<std::string_view> columns, std::string_view where = "");
  // Returns the different values of a column.
  Rows distinct(std::string_view table, std::string_view column);

  // One sentence per table that could not be read to its end.
  std::vector<std::string> damages() const;

  // Throws Error (bad_content) with the file, `what` and advice.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  friend class Rows;
  friend class Texts;
  struct Table {
    std::set<std::string, std::less<>> columns;
    std::vector<std::string> keys;
  };
  struct Damage {
    std::uint64_t rows = 0;  // most rows that a walk read
    std::string error;
  };

  void check_file() const;
  void open();
  void limit();
  void run(const char* sql);
  void list_tables();
  sqlite3_stmt* prepare(const std::string& sql);
  void note_damage(const std::string& table, std::uint64_t rows, int code);

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, Table, std::less<>> tables_;
  std::map<std::string, Damage> damages_;  // by table
};

// The table StringIds. A text is read when it is first needed, because the table also contains whole files.
class Texts {
 public:
  explicit Texts(Database& database);
  // Returns "" for an id that the table lacks. Valid until the next call.
  std::string_view operator[](std::int64_t id);

 private:
  std::optional<Rows> by_id_;                        // if the id is the key
  std::map<std::int64_t, std::string> without_key_;  // otherwise
};

}  // namespace cli::nsys
