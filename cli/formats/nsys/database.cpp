#include "cli/formats/nsys/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/base/error.h"
#include "cli/formats/json/byte_source.h"

namespace cli::nsys {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kMostText = 64 << 10;  // longer texts are contents of files, not names

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

// Returns the size of the file by its header (https://sqlite.org/fileformat.html, "The Database Header"); 0 if unknown.
std::uint64_t bytes_by_header(std::string_view header) {
  const std::uint32_t page = big_endian(header, 16, 2);
  const bool is_valid = big_endian(header, 24, 4) == big_endian(header, 92, 4);
  return is_valid ? std::uint64_t{page == 1 ? 65536 : page} * big_endian(header, 28, 4) : 0;
}

// The characters with a meaning in a URI become %XX.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("/._-~").find(c) != std::string_view::npos;
    if (is_plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

bool has_content(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

}  // namespace

Rows::Rows(Database& database, std::string table, sqlite3_stmt* statement)
    : database_(&database), table_(std::move(table)), statement_(statement) {}
Rows::Rows(Rows&& from) noexcept
    : database_(from.database_),
      table_(std::move(from.table_)),
      statement_(std::exchange(from.statement_, nullptr)),
      rows_(from.rows_) {}
Rows::~Rows() { sqlite3_finalize(statement_); }

bool Rows::next() {
  if (statement_ == nullptr) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    ++rows_;
    return true;
  }
  if (code != SQLITE_DONE) database_->note_damage(table_, rows_, code);
  return false;
}

void Rows::restart(std::int64_t argument) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, argument);
}

bool Rows::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }
std::optional<std::int64_t> Rows::optional(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}
double Rows::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view Rows::text(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Database::Database(const std::string& path) : path_(path) {
  check_file();
  try {
    open();
    limit();
    list_tables();
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::refuse(const std::string& what) const {
  throw Error(Exit::bad_content,
              fmt::format("{}: {}; export the report again with `nsys export --type sqlite`", path_, what));
}

// An export is complete and closed. A rollback journal or a write-ahead log next to it contains changes that are not in
// the file, and an immutable database ignores both.
void Database::check_file() const {
  const std::string header = PlainFile(path_).peek(kHeaderBytes);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path_, error);
  if (header.size() < kHeaderBytes)
    refuse(fmt::format("an SQLite database that ends within its header, after {} bytes", size));
  if (const std::uint64_t expected = bytes_by_header(header); !error && expected > size)
    refuse(fmt::format("the file is truncated: it has {} of {} bytes", size, expected));
  for (const char* const other : {"-wal", "-journal"}) {
    if (has_content(path_ + other))
      refuse(
          fmt::format("{}{} contains changes that are not in the file: another program is writing it, or was stopped",
                      path_, other));
  }
}

void Database::open() {
  const int code = sqlite3_open_v2(uri_of(path_).c_str(), &handle_,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) return;
  // SQLite opens files by their real path, and the unnamed copy of a pipe has none.
  if (path_.starts_with("/proc/self/fd/"))
    throw Error(Exit::cannot_open,
                "{}: a report of Nsight Systems cannot be read from a pipe; give the name of its file", path_);
  throw Error(Exit::cannot_open, "{}: cannot open: {}", path_, sqlite3_errstr(code));
}

void Database::limit() {
  constexpr std::array<std::pair<int, int>, 6> kLimits{{{SQLITE_LIMIT_LENGTH, 64 << 20},
                                                        {SQLITE_LIMIT_SQL_LENGTH, 256 << 10},
                                                        {SQLITE_LIMIT_COLUMN, 1000},
                                                        {SQLITE_LIMIT_EXPR_DEPTH, 50},
                                                        {SQLITE_LIMIT_ATTACHED, 0},
                                                        {SQLITE_LIMIT_TRIGGER_DEPTH, 1}}};
  for (const auto& [what, most] : kLimits) sqlite3_limit(handle_, what, most);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  run("PRAGMA cell_size_check=ON");
}

void Database::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) refuse(sqlite3_errmsg(handle_));
}

sqlite3_stmt* Database::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    refuse(fmt::format("SQLite cannot read it ({})", sqlite3_errmsg(handle_)));
  return statement;
}

void Database::list_tables() {
  Rows columns(*this, "sqlite_master",
               prepare("SELECT m.name, c.name, c.pk FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
                       "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'"));
  while (columns.next()) {
    Table& table = tables_[std::string(columns.text(0))];
    table.columns.emplace(columns.text(1));
    if (columns.integer(2) > 0) table.keys.emplace_back(columns.text(1));
  }
  if (!damages_.empty()) refuse("the list of its tables is damaged");
}

bool Database::has_column(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.columns.find(column) != found->second.columns.end();
}

bool Database::is_key(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.keys.size() == 1 && found->second.keys[0] == column;
}

Rows Database::rows(std::string_view table, std::initializer_list<std::string_view> columns, std::string_view where) {
  if (!has_table(table)) return {*this, std::string(table), nullptr};
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    if (column != *columns.begin()) sql += ", ";
    sql += has_column(table, column) ? quoted(column) : "NULL";
  }
  sql += " FROM " + quoted(table);
  if (!where.empty()) sql += fmt::format(" WHERE {}", where);
  return {*this, std::string(table), prepare(sql)};
}

Rows Database::distinct(std::string_view table, std::string_view column) {
  if (!has_column(table, column)) return {*this, std::string(table), nullptr};
  return {*this, std::string(table), prepare(fmt::format("SELECT DISTINCT {} FROM {}", quoted(column), quoted(table)))};
}

void Database::note_damage(const std::string& table, std::uint64_t rows, int code) {
  Damage& damage = damages_[table];
  damage.rows = std::max(damage.rows, rows);
  damage.error = sqlite3_errstr(code);
}

std::vector<std::string> Database::damages() const {
  std::vector<std::string> sentences;
  for (const auto& [table, damage] : damages_)
    sentences.push_back(fmt::format("the table {} is damaged ({}): only {} of its rows could be read", table,
                                    damage.error, damage.rows));
  return sentences;
}

Texts::Texts(Database& database) {
  if (database.is_key("StringIds", "id")) {
    by_id_.emplace(database.rows("StringIds", {"value"}, "id = ?1"));
    return;
  }
  for (Rows rows = database.rows("StringIds", {"id", "value"}); rows.next();)
    without_key_.emplace(rows.integer(0), rows.text(1).substr(0, kMostText));
}

std::string_view Texts::operator[](std::int64_t id) {
  if (!by_id_) {
    const auto found = without_key_.find(id);
    return found == without_key_.end() ? std::string_view() : std::string_view(found->second);
  }
  by_id_->restart(id);
  return by_id_->next() ? by_id_->text(0).substr(0, kMostText) : std::string_view();
}

}  // namespace cli::nsys
