import type { createMetricKinds } from './runtime/metric-kinds.ts';

/** The metrics of MQTT connections and of the messages of devices. */
export const createMqttMetrics = ({ counter, gauge }: ReturnType<typeof createMetricKinds>) => ({
  devicesConnected: gauge('devices_connected', 'MQTT connections of devices'),
  devicesWithoutCommands: gauge(
    'devices_without_commands',
    'Devices that have been connected for 30 seconds or more without a subscription to their commands',
  ),
  mqttIdentitiesContested: counter(
    'mqtt_identities_contested_total',
    'Times that connections of one device replaced one another five times in a minute, so that two devices seem to use its identity',
  ),
  mqttConnections: gauge('mqtt_connections', 'Open connections of the MQTT listeners, logged in or not'),
  mqttConnectionsLimit: gauge('mqtt_connections_limit', 'The most open connections that the MQTT listeners accept'),
  mqttWaiting: gauge('mqtt_connections_waiting', 'Open MQTT connections that have not logged in'),
  mqttMessagesWaiting: gauge('mqtt_messages_waiting', 'Unacknowledged messages of devices that wait for the database'),
  mqttLoginsHeld: counter(
    'mqtt_logins_held_total',
    'Refused logins whose answer was delayed, because too many came from one source',
  ),
  mqttMalformed: counter(
    'mqtt_malformed_packets_total',
    'Connections ended because of a packet that breaks the protocol',
    ['when'],
  ),
  mqttPaused: counter(
    'mqtt_paused_total',
    'Times that a connection was not read for a moment, because the device sent more packets than it may',
  ),
  mqttRefused: counter('mqtt_refused_total', 'Connections, subscriptions and publishes refused', ['reason']),
  mqttMessages: counter('mqtt_messages_total', 'Messages received from devices', ['topic']),
  mqttRejected: counter(
    'mqtt_rejected_messages_total',
    'Messages of devices dropped because of faults, which the device was told on its errors topic',
    ['topic'],
  ),
  mqttLeftOut: counter('mqtt_partly_taken_messages_total', 'Messages of devices accepted without their faulty parts', [
    'topic',
  ]),
  mqttMended: counter('mqtt_mended_messages_total', 'Messages of devices whose JSON had to be repaired', ['topic']),
  mqttUnknownMembers: counter(
    'mqtt_unknown_members_total',
    'Unknown members of messages of devices, which were ignored',
    ['topic'],
  ),
});
