"""Daft."""

import daft
import latebind
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from latebind.bulk import EmbedBatches, embed_daft
from support import TINY
from tables import run_snippets, table


def test_a_data_frame_gets_a_column():
    rows = table(1000)
    found = embed_daft(daft.from_arrow(rows), TINY, "body", vector_column="v", batch_size=2000).to_arrow()
    assert found.schema.field("v").type == pa.list_(pa.float32(), 32)
    assert found["v"].to_pylist() == EmbedBatches(TINY, "body")(rows)["vector"].to_pylist()
    assert found["id"].to_pylist() == rows["id"].to_pylist()


def test_bad_rows():
    frame = daft.from_pydict({"body": ["the cat", None]})
    assert embed_daft(frame, TINY, "body", on_error="skip").to_arrow()["vector"].null_count == 1
    with pytest.raises(Exception, match="null"):
        embed_daft(frame, TINY, "body").collect()


def test_no_column_is_overwritten():
    frame = daft.from_pydict({"body": ["the cat"], "vector": [1]})
    for arguments, message in (
        ({"text_column": "body"}, "already a column 'vector'"),
        ({"text_column": "body", "vector_column": "body"}, "already a column 'body'"),
        ({"text_column": "text"}, "no column 'text'; the columns are: body, vector"),
    ):
        with pytest.raises(latebind.CallerError, match=message):
            embed_daft(frame, TINY, **arguments)


def test_the_guide(tmp_path):
    run_snippets(tmp_path, "embed_daft")
    found = pq.read_table(tmp_path / "by-daft").sort_by("id").to_pydict()
    assert found["id"] == list(range(300))
    assert {len(vector) for vector in found["vector"]} == {384}
