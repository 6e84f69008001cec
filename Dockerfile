# For those without uv or conda: what `make` does, in an image.
#   docker build -t featlearn .
#   docker run --rm -v "$PWD/results:/featlearn/results" featlearn            # make: a tour
#   docker run --rm -v "$PWD/results:/featlearn/results" featlearn make one
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /featlearn
# the environment first: it changes with the lock alone
COPY Makefile pyproject.toml setup.py MANIFEST.in README.md LICENSE requirements.lock ./
COPY src/featlearn/__init__.py src/featlearn/
RUN make .venv/.ready && rm -rf /root/.cache
COPY . .
ENV PATH=/featlearn/.venv/bin:$PATH
CMD ["make"]
