import type { Config } from '../../config.ts';
import type { Metrics } from '../../metrics.ts';
import { listenAt } from '../../runtime/listening.ts';
import type { Broker } from './broker.ts';
import { expiryOf, readTlsFiles, type TlsFiles } from './tls-files.ts';

type TlsMetrics = Pick<Metrics, 'certificateExpiry'>;

function tellExpiry({ cert, clientCa }: TlsFiles, { certificateExpiry }: TlsMetrics): void {
  certificateExpiry.set({ file: 'cert' }, expiryOf(cert));
  if (clientCa) certificateExpiry.set({ file: 'client_ca' }, expiryOf(clientCa));
}

/**
 * Creates the listeners for devices that the settings ask for. They begin to listen at `start`; `urls` are their URLs.
 */
export function createMqttAddresses(broker: Broker, metrics: TlsMetrics, { mqtt, mqtts, mqttWs, tls }: Config) {
  const urls: { mqtt: string; mqtts?: string; mqttWs?: string } = { mqtt: '' };

  return {
    urls,

    /** Begins to listen. Throws SETTING_INVALID when an address or a TLS file cannot be used. */
    async start(): Promise<void> {
      urls.mqtt = await listenAt({ setting: 'LAPEL_MQTT_PORT', scheme: 'mqtt', ...mqtt }, broker.listenTcp);
      const files = tls ? readTlsFiles(tls) : undefined;
      if (files) tellExpiry(files, metrics);
      if (mqtts && files) {
        const at = { setting: 'LAPEL_MQTTS_PORT', scheme: 'mqtts', ...mqtts };
        urls.mqtts = await listenAt(at, (host, port) => broker.listenTls(host, port, files));
      }
      if (mqttWs) {
        const at = { setting: 'LAPEL_MQTT_WS_PORT', scheme: files ? 'wss' : 'ws', ...mqttWs };
        urls.mqttWs = await listenAt(at, (host, port) => broker.listenWebSocket(host, port, files));
      }
    },

    /**
     * Reads the TLS files again. New connections use them, and devices whose certificate is now revoked are
     * disconnected. Throws SETTING_INVALID for a faulty file; then nothing changes. Returns false when no TLS is set
     * up.
     */
    reloadTls(): boolean {
      if (!tls) return false;
      const files = readTlsFiles(tls);
      broker.reloadTls(files);
      tellExpiry(files, metrics);
      return true;
    },
  };
}
