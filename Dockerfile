# Two images. docker build -t lapel . makes that of the service, one node; the other parts of a cluster are in compose.yaml.
# docker build --target simulator -t lapel-sim . makes that of the device simulator.
FROM node:24-slim AS packages
WORKDIR /lapel
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY schemas schemas
COPY src src

FROM packages AS simulator
COPY device-sim device-sim
RUN mkdir /work && chown node /work
# Scenario files and reports: mount a folder here.
WORKDIR /work
USER node
ENTRYPOINT ["node", "/lapel/device-sim/main.ts"]
CMD ["--help"]

FROM packages AS service
COPY console console
RUN mkdir /data && chown node /data
USER node
ENV LAPEL_DATA_DIR=/data LAPEL_HOST=0.0.0.0 LAPEL_ADMIN_HOST=0.0.0.0 LAPEL_MQTT_HOST=0.0.0.0
EXPOSE 8080 8081 1883
ENTRYPOINT ["node", "src/main.ts"]
CMD ["serve"]
