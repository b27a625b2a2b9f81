/** Seconds of the keep-alive in the CONNECT of a device [MQTT-3.1.2-23]. */
export const keepAliveSeconds = (): number => 60;
