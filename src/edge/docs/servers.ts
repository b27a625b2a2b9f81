const DESCRIPTIONS: Record<string, string> = {
  mqtt: 'MQTT over TCP',
  mqtts: 'MQTT over TLS',
  ws: 'MQTT over WebSocket',
  wss: 'MQTT over WebSocket and TLS',
};

/** A server of the AsyncAPI document. */
interface Server {
  host: string;
  pathname?: string;
  protocol: string;
  description: string | undefined;
}

/** The servers of the AsyncAPI document for the URLs that devices connect to, by their protocols. */
export const serversOf = (mqttUrls: readonly string[]): Record<string, Server> =>
  Object.fromEntries(
    mqttUrls.map((url) => {
      const { host, pathname, protocol } = new URL(url);
      const name = protocol.slice(0, -1);
      const path = pathname.length > 1 ? { pathname } : {};
      return [name, { host, ...path, protocol: name, description: DESCRIPTIONS[name] }];
    }),
  );

interface AsyncApi {
  servers: { mqtt: object };
  channels: Record<string, { servers?: object[] }>;
}

/** The text of the AsyncAPI document with the servers of a service, in place of the one server that it was made with. */
export function withServers(text: string, mqttUrls: readonly string[]): string {
  const document = JSON.parse(text) as AsyncApi;
  const servers = Object.entries(serversOf(mqttUrls));
  for (const channel of Object.values(document.channels))
    if (channel.servers) channel.servers = servers.map(([name]) => ({ $ref: `#/servers/${name}` }));
  const shared = document.servers.mqtt;
  return JSON.stringify({
    ...document,
    servers: Object.fromEntries(servers.map(([name, own]) => [name, { ...shared, ...own }])),
  });
}
