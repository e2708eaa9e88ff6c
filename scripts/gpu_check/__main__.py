"""python3 gpu_check [OPTION]...: see main.py."""
import sys

from main import main

sys.exit(main())
