# Two images, of the npm package that `npm run release` makes:
#
#   npm run release && docker build -t lapel . && docker build --target simulator -t lapel-sim .
#   docker run -p 8080:8080 -p 8081:8081 -p 1883:1883 -p 8082:8082 -v data:/data --name lapel lapel
#
# The first is the service, one node, with its data in /data; compose.yaml and docs/operations.md have more. The base gets
# security updates under its name; --build-arg NODE_IMAGE=node:24-slim@sha256:... builds on bytes that you have chosen.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS package
COPY dist/lapel-[0-9]*.tgz /tmp/lapel.tgz
# The package contains its dependencies, so that nothing is loaded from a registry.
RUN npm install --global --offline --ignore-scripts --prefix /lapel /tmp/lapel.tgz

FROM ${NODE_IMAGE} AS simulator
COPY --from=package /lapel/ /usr/local/
RUN mkdir /work && chown node /work
# Scenario files and reports: mount a folder here.
WORKDIR /work
USER node
ENTRYPOINT ["lapel-sim"]
CMD ["--help"]

FROM ${NODE_IMAGE} AS service
COPY --from=package /lapel/ /usr/local/
RUN mkdir --mode=0700 /data && chown node /data
# The listeners are those of the container: `-p` says which addresses of the host lead to them. Plain HTTP and MQTT stay
# on this host if `-p` names 127.0.0.1; otherwise put TLS in front.
ENV LAPEL_DATA_DIR=/data \
    LAPEL_HTTP_HOST=0.0.0.0 LAPEL_ADMIN_HOST=0.0.0.0 LAPEL_MQTT_HOST=0.0.0.0 LAPEL_OBJECTS_HOST=0.0.0.0 \
    LAPEL_ALLOW_PLAIN_HTTP=true LAPEL_ALLOW_PLAIN_MQTT=true \
    MALLOC_ARENA_MAX=2
USER node
WORKDIR /data
VOLUME /data
# REST, administration, the object store, MQTT
EXPOSE 8080 8081 8082 1883
# A probe takes 0.1 s of processor time. It is unhealthy when /readyz is not ready, also while the database is away.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=2 \
  CMD ["node", "/usr/local/lib/node_modules/lapel/bin/ready.mjs"]
ENTRYPOINT ["lapel"]
CMD ["serve"]
