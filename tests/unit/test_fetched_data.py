"""``featlearn data``: a server on the loopback cuts, corrupts, redirects and forgets ranges."""

import gzip
import hashlib
import io
import re
import tarfile
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from featlearn.command import main
from featlearn.core.errors import FeatlearnError
from featlearn.images.data import fetch
from featlearn.images.data.fetch import download, get, unpack
from featlearn.images.data.published import PUBLISHED, Archive

CONTENT = bytes(range(256)) * 1000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """``files``: by path. ``faults``: what happens to the next requests. ``asked``: what was."""

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Answers)
        self.files, self.faults, self.asked = files, [], []
        self.at = f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        fault = self.server.faults.pop(0) if self.server.faults else ""
        given = self.headers.get("Range")
        self.server.asked.append(given)
        if fault == "redirect":
            self.send_response(302)
            self.send_header("Location", f"{self.server.at}{self.path}")
            self.end_headers()
            return
        if self.path not in self.server.files or fault == "refused":
            self.send_error(404 if not fault else 403)
            return
        content = self.server.files[self.path]
        first = int(re.findall(r"\d+", given)[0]) if given and fault != "no ranges" else 0
        if first >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        if fault != "endless":
            self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        sent = content[first:]
        if fault == "cut":
            sent = sent[: len(sent) // 2]
        elif fault == "corrupt":
            sent = sent[:100] + b"x" + sent[101:]
        elif fault == "endless":
            sent *= 20
        self.wfile.write(sent)


@pytest.fixture(autouse=True)
def server(monkeypatch):
    monkeypatch.setattr(fetch, "PAUSE", 0.0)
    made = Server({"/set.bin": CONTENT})
    thread = threading.Thread(target=made.serve_forever, args=[0.01])
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.mark.parametrize(("faults", "asked"), [
    ([], [None]),
    (["cut", "cut"], [None, "bytes=128000-", "bytes=192000-"]),
    (["corrupt"], [None, None]),
    (["redirect"], [None, None]),
    (["cut", "redirect"], [None, "bytes=128000-", "bytes=128000-"]),
    (["cut", "no ranges"], [None, "bytes=128000-"]),
    (["cut", "corrupt"], [None, "bytes=128000-", None]),
])  # fmt: skip
def test_a_download_survives(server, tmp_path, faults, asked):
    server.faults = faults
    download(Archive(f"{server.at}/set.bin", MD5), tmp_path / "set.bin", 10**6)
    assert (tmp_path / "set.bin").read_bytes() == CONTENT
    assert server.asked == asked
    assert [path.name for path in tmp_path.iterdir()] == ["set.bin"]


@pytest.mark.parametrize(("faults", "told"), [
    (["corrupt"] * 9, f"set.bin: MD5 must be {MD5}, got "),
    (["redirect"] * 99, "redirect"),
    (["refused"], "403"),
    (["endless"], "must have at most 1000000 bytes, got more"),
])  # fmt: skip
def test_a_wrong_file_is_refused(server, tmp_path, faults, told):
    server.faults = faults
    with pytest.raises(FeatlearnError, match=told):
        download(Archive(f"{server.at}/set.bin", MD5), tmp_path / "set.bin", 10**6)
    assert not (tmp_path / "set.bin").exists()


def test_a_whole_part_and_a_foreign_one(server, tmp_path):
    """Of a command that was killed before it looked at the MD5; of another file."""
    for content, asked in ((CONTENT, 1), (b"x" * 300_000, 2)):
        server.asked.clear()
        (tmp_path / "set.bin").unlink(missing_ok=True)
        (tmp_path / "set.bin.part").write_bytes(content)
        download(Archive(f"{server.at}/set.bin", MD5), tmp_path / "set.bin", 10**6)
        assert (tmp_path / "set.bin").read_bytes() == CONTENT
        assert len(server.asked) == asked


def offered(server, monkeypatch, name, contents):
    own = PUBLISHED[name]
    archives = []
    for archive, content in zip(own.archives, contents, strict=True):
        file = archive.address.rpartition("/")[2]
        server.files[f"/{file}"] = content
        digest = hashlib.md5(content).hexdigest()
        archives.append(Archive(f"{server.at}/{file}", digest, archive.into))
    monkeypatch.setitem(PUBLISHED, name, replace(own, archives=tuple(archives)))


def test_a_set_is_there_whole_or_not_at_all(server, tmp_path, monkeypatch, capsys):
    offered(server, monkeypatch, "MNIST", [gzip.compress(bytes([row])) for row in range(4)])
    wrong = server.files["/t10k-labels-idx1-ubyte.gz"]
    server.files["/t10k-labels-idx1-ubyte.gz"] = wrong + b"x"
    words = ["data", "get", "MNIST", "--root", str(tmp_path)]
    assert main(words) == 2
    assert "t10k-labels-idx1-ubyte.gz: MD5 must be " in capsys.readouterr().err
    assert not (tmp_path / "MNIST").exists()
    server.files["/t10k-labels-idx1-ubyte.gz"] = wrong
    server.asked.clear()
    assert main(words) == 0
    assert len(server.asked) == 1, "what had come is kept"
    files = sorted((tmp_path / "MNIST/raw").iterdir())
    assert [file.read_bytes()[0] for file in files] == [2, 3, 0, 1]
    assert not (tmp_path / ".MNIST.part").exists()
    assert f"{{kind: torchvision, name: MNIST, root: {tmp_path}}}" in capsys.readouterr().out
    assert main(words) == 0
    assert len(server.asked) == 1
    files[0].unlink()
    with pytest.raises(FeatlearnError, match=r"a part of MNIST, without MNIST/raw/t10k-images"):
        get("MNIST", tmp_path)


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_archives_that_share_folders_and_archives_in_archives(server, tmp_path, monkeypatch):
    signs = [
        zipped(**{"GTSRB/Training/00000/00000_00000.ppm": b"1"}),
        zipped(**{"GTSRB/Final_Test/Images/00000.ppm": b"2"}),
        zipped(**{"GT-final_test.csv": b"3"}),
    ]
    offered(server, monkeypatch, "GTSRB", signs)
    get("GTSRB", tmp_path)
    assert fetch.missing(PUBLISHED["GTSRB"], tmp_path) == []
    letters = {f"gzip/{file.rpartition('/')[2]}.gz": gzip.compress(b"4")
               for name in PUBLISHED if name.startswith("EMNIST")
               for split in PUBLISHED[name].splits.values() for file in split}  # fmt: skip
    offered(server, monkeypatch, "EMNIST", [zipped(**letters)])
    get("EMNIST", tmp_path)
    assert fetch.missing(PUBLISHED["EMNIST-letters"], tmp_path) == []


def test_an_archive_writes_nothing_outside(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../out"))
    (tmp_path / "x.tar").write_bytes(buffer.getvalue())
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack(tmp_path / "x.tar", tmp_path / "folder")
    (tmp_path / "y.zip").write_bytes(zipped(**{"../out": b"1"}))
    unpack(tmp_path / "y.zip", tmp_path / "folder")
    assert {path.name for path in tmp_path.iterdir()} == {"x.tar", "y.zip", "folder"}


def test_what_has_no_address_or_no_name(tmp_path, capsys):
    assert main(["data", "list", "--root", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in PUBLISHED)
    assert PUBLISHED["CIFAR10"].archives[0].md5 in told
    assert main(["data", "get", "FER2013", "--root", str(tmp_path)]) == 2
    assert "kaggle.com" in capsys.readouterr().err
    assert main(["data", "get", "MIST"]) == 2
    assert "NAME must be one of MNIST, " in capsys.readouterr().err


def test_official_files_are_those_of_torchvision():
    from torchvision import datasets

    for name in ("MNIST", "FashionMNIST", "KMNIST"):
        stated = [md5 for _, md5 in getattr(datasets, name).resources]
        assert [archive.md5 for archive in PUBLISHED[name].archives] == stated
        assert len(PUBLISHED[name].classes) == len(getattr(datasets, name).classes)
    for part in ("balanced", "letters", "digits", "bymerge", "byclass", "mnist"):
        own = PUBLISHED["EMNIST" + f"-{part}" * (part != "balanced")]
        assert list(own.classes) == datasets.EMNIST.classes_split_dict[part]
    assert PUBLISHED["EMNIST"].archives[0].md5 == datasets.EMNIST.md5
    assert PUBLISHED["STL10"].archives[0].md5 == datasets.STL10.tgz_md5
    stated = [datasets.SVHN.split_list[split][2] for split in ("train", "test")]
    assert [archive.md5 for archive in PUBLISHED["SVHN"].archives] == stated
