// Filesystems by their type number (statfs(2)), and whether a recording can be mapped on them.
#pragma once
#include <cstdint>

namespace trace {

inline constexpr std::uint64_t kTmpfs = 0x01021994;

struct Filesystem {
  std::uint64_t type;
  const char* name;
  bool maps_in_place;  // a mapped page is written where it was reserved
};
// The filesystem below an overlayfs, which containers use, cannot be queried; it is usually one of the others.
inline constexpr Filesystem kFilesystems[] = {
    {0xef53, "ext4", true},          {0x58465342, "xfs", true},     {kTmpfs, "tmpfs", true},
    {0x794c7630, "overlayfs", true}, {0x9123683e, "btrfs", false},  {0x2fc12fc1, "zfs", false},
    {0x6969, "NFS", false},          {0x0bd00bd0, "Lustre", false}, {0x65735546, "FUSE", false},
    {0xff534d42, "CIFS", false},     {0xfe534d42, "SMB", false},    {0x47504653, "GPFS", false},
    {0x00c36400, "Ceph", false},     {0x01021997, "9P", false},     {0x2011bab0, "exFAT", false},
};

// Null if the filesystem is not in the table.
constexpr const Filesystem* filesystem_of(std::uint64_t type) {
  for (const Filesystem& known : kFilesystems) {
    if (known.type == (type & 0xffffffff)) return &known;  // some kernels extend its sign
  }
  return nullptr;
}

}  // namespace trace
