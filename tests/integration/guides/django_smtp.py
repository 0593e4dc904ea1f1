"""Send with Django as the guide says: django_smtp.py TO INVOICE."""

import os
import runpy
import sys

import django

from tests.stack import ROOT

code = ROOT / "docs" / "guides" / "code" / "smtp"
sys.path.insert(0, str(code))
os.environ["DJANGO_SETTINGS_MODULE"] = "django_settings"
django.setup()
runpy.run_path(str(code / "django_send.py"))
