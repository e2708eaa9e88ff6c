"""Names of kernels as CUPTI tells them."""
from collections import Counter


def plain(mangled):
    """_Z7add_onePfi -> add_one, _Z9add_timesILi2EEvPfi -> add_times<2>: names of the Itanium ABI without scopes. Any other
    comes back as it is."""
    if not mangled.startswith("_Z") or not mangled[2:3].isdigit():
        return mangled
    length = int("".join(letter for letter in mangled[2:6] if letter.isdigit()))
    begin = mangled.index(str(length)) + len(str(length))
    name, rest = mangled[begin:begin + length], mangled[begin + length:]
    return f"{name}<{rest[3:rest.index('E')]}>" if rest.startswith("ILi") else name


def counted(kernels):
    """{plain name: how many}."""
    return dict(Counter(plain(kernel.shape.name) for kernel in kernels))
