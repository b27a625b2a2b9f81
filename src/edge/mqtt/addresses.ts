import type { Config } from '../../config.ts';
import type { Certificates } from '../../platform/entrance/certificates.ts';
import { listenAt } from '../../runtime/listening.ts';
import type { Broker } from './broker.ts';

/**
 * Creates the listeners for devices that the settings ask for. They begin to listen at `start`; `urls` are their URLs.
 */
export function createMqttAddresses(broker: Broker, certificates: Certificates, { mqtt, mqtts, mqttWs }: Config) {
  const urls: { mqtt: string; mqtts?: string; mqttWs?: string } = { mqtt: '' };
  const [ofTls, ofWebSocket] = [certificates.of('mqtts'), certificates.of('ws')];
  (ofTls ?? ofWebSocket)?.onChange(broker.endRevoked);

  return {
    urls,

    /** Begins to listen. Throws SETTING_INVALID when an address cannot be used. */
    async start(): Promise<void> {
      urls.mqtt = await listenAt({ setting: 'LAPEL_MQTT_PORT', scheme: 'mqtt', ...mqtt }, broker.listenTcp);
      if (mqtts && ofTls) {
        const at = { setting: 'LAPEL_MQTTS_PORT', scheme: 'mqtts', ...mqtts };
        urls.mqtts = await listenAt(at, (host, port) => broker.listenTls(host, port, ofTls));
      }
      if (mqttWs) {
        const at = { setting: 'LAPEL_MQTT_WS_PORT', scheme: ofWebSocket ? 'wss' : 'ws', ...mqttWs };
        urls.mqttWs = await listenAt(at, (host, port) => broker.listenWebSocket(host, port, ofWebSocket));
      }
    },
  };
}
