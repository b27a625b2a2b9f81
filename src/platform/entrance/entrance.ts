import type { Config } from '../../config.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { tlsSettingsOf, type WebListener } from '../../runtime/entrance-settings.ts';
import type { Log } from '../../runtime/log.ts';
import type { PROXIED } from '../../runtime/setting-values.ts';
import { createCertificates, type TlsSet } from './certificates.ts';
import { createClientCertificates } from './client-certificates.ts';
import { createProxyGate, type ProxyGate } from './proxy-gate.ts';
import type { Entrance } from './web-server.ts';

type Given = Pick<Config, 'entrance' | 'tls' | 'mqtts' | 'mqttWs' | 'objects'>;
type Listener = (typeof PROXIED)[number];

const WEB: readonly WebListener[] = ['api', 'admin', 'objects'];
const MQTT_SETTINGS = {
  cert: 'LAPEL_TLS_CERT',
  key: 'LAPEL_TLS_KEY',
  clientCa: 'LAPEL_MQTT_CLIENT_CA',
  clientCrl: 'LAPEL_MQTT_CLIENT_CRL',
};

/** The name of the files that say whose certificates applications may show. */
const OF_APPLICATIONS = 'applications';
const APPLICATION_SETTINGS = {
  cert: '',
  key: '',
  clientCa: 'LAPEL_APPLICATION_CA',
  clientCrl: 'LAPEL_APPLICATION_CRL',
};

/** The TLS files that the settings name, with the listeners that use them. */
export function tlsSetsOf({ entrance, tls, mqtts, mqttWs }: Given): TlsSet[] {
  const ofMqtt = [...(mqtts ? ['mqtts'] : []), ...(mqttWs ? ['ws'] : [])];
  const { ca: clientCa, crl: clientCrl } = entrance.clients;
  const ofApplications = {
    listeners: [OF_APPLICATIONS],
    settings: APPLICATION_SETTINGS,
    paths: { cert: null, key: null, clientCa, clientCrl },
  };
  return [
    ...WEB.flatMap((listener) => {
      const paths = entrance.tls[listener];
      return paths !== null ? [{ listeners: [listener], settings: tlsSettingsOf(listener), paths }] : [];
    }),
    ...(tls ? [{ listeners: ofMqtt, settings: MQTT_SETTINGS, paths: tls }] : []),
    ...(clientCa === null ? [] : [ofApplications]),
  ];
}

export type Entrances = ReturnType<typeof createEntrances>;

/**
 * Creates what stands before the listeners: certificates, the PROXY protocol, and trust in proxies. Throws
 * SETTING_INVALID for TLS files that cannot be used.
 */
export function createEntrances(config: Given, common: { clock: Clock; log: Log; metrics: Metrics }) {
  const { trusted, header, proxied, tls, clients, hstsSeconds } = config.entrance;
  const certificates = createCertificates({ ...common, sets: tlsSetsOf(config) });
  const gate = trusted ? createProxyGate({ ...common, trusted }) : undefined;
  const gateOf = (listener: Listener): ProxyGate | undefined => (proxied.has(listener) ? gate : undefined);
  // Browsers apply HSTS to all ports of a host. So it is only sent when no listener for browsers is without TLS.
  const isAllSecure = WEB.every(
    (listener) => tls[listener] !== null || (listener === 'objects' && config.objects.endpoint !== null),
  );

  const ofApplications = certificates.of(OF_APPLICATIONS);
  const isShown = clients.header === null && (ofApplications !== undefined || clients.selfSigned || clients.enrolment);

  return {
    certificates,
    gateOf,
    /** Finds the certificates that applications, and devices that enrol, show. */
    clientCertificates: createClientCertificates({
      clock: common.clock,
      authority: ofApplications,
      selfSigned: clients.selfSigned,
      enrolment: clients.enrolment,
      header: clients.header,
      trusted,
    }),
    /** The proxies whose headers are read; undefined when none is trusted. */
    proxies: trusted ? { trusted, choice: header } : undefined,
    /** The parts before an HTTP listener. */
    of: (listener: WebListener): Entrance => ({
      listener,
      secured: certificates.of(listener),
      gate: gateOf(listener),
      ...(listener === 'api' && isShown && { clients: { authority: ofApplications } }),
      ...(isAllSecure && hstsSeconds > 0 && { hsts: `max-age=${hstsSeconds}` }),
    }),
  };
}
