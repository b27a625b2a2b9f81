# One node of the service. The other parts of a cluster are in compose.yaml.
FROM node:24-slim
WORKDIR /lapel
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY schemas schemas
COPY src src
COPY console console
RUN mkdir /data && chown node /data
USER node
ENV LAPEL_DATA_DIR=/data LAPEL_HOST=0.0.0.0 LAPEL_ADMIN_HOST=0.0.0.0 LAPEL_MQTT_HOST=0.0.0.0
EXPOSE 8080 8081 1883
ENTRYPOINT ["node", "src/main.ts"]
CMD ["serve"]
