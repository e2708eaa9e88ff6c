"""python -m tracetool: the same as tracetool."""
from tracetool import main

main()
