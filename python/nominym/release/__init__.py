"""The files of a release: tables in and out, the manifest beside them, the owner's key.

``read_table`` and ``write_table`` hold codes, not texts, and write all or nothing (``table``, ``delimited``,
``parquet``). ``publish`` writes a release with its ``Manifest`` and, for the owner, the key to the order of its rows;
``Roles`` says which columns are dropped, masked and kept.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> import nominym as nym
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "visits.csv")
...     nym.release.write_table({"diagnosis": ["flu", "coma"]}, path)
...     nym.release.read_table(path)["diagnosis"].to_pylist()
['flu', 'coma']
"""

from nominym.release.key import read_key
from nominym.release.manifest import Manifest, manifest_path, read_manifest
from nominym.release.publish import publish
from nominym.release.roles import Roles
from nominym.release.table import read_table, write_table

__all__ = ["Manifest", "Roles", "manifest_path", "publish", "read_key", "read_manifest", "read_table", "write_table"]
