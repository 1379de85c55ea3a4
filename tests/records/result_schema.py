"""The published form of a result, with the frames of today.

    python -m tests.records.result_schema

stores it, in `result.schema.json`.
"""

import json
from pathlib import Path

from importance_audit.records import as_json
from importance_audit.records.frames import FRAMES

FILE = Path(as_json.__file__).with_name("result.schema.json")


def result_schema():
    """Return what is stored, with a part for each frame."""
    schema = json.loads(FILE.read_text("utf8"))
    parts = schema["properties"]
    first = {name: parts[name] for name in ("schema_version", "content_digest", "run")}
    frames = {
        name: {
            "description": f"{frame.meaning} Columns: {', '.join(frame.columns)}.",
            "$ref": "#/$defs/frame",
        }
        for name, frame in FRAMES.items()
    }
    records = {name: parts[name] for name in as_json.RECORDS}
    schema["properties"] = {**first, **frames, **records}
    required = ["schema_version", "run", *FRAMES, *as_json.RECORDS]
    return {**schema, "required": required}


def schema_text():
    """Return the text as it should be stored."""
    return json.dumps(result_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), "utf8")
