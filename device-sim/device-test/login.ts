import type { IConnectPacket } from 'mqtt-packet';

/** The identity of the device under test. */
export interface Account {
  readonly deviceId: string;
  readonly credential: string;
}

/** Return codes of CONNACK [MQTT-3.2.2.3]. */
const UNACCEPTABLE_VERSION = 1;
const BAD_CREDENTIAL = 4;

/** MQTT 3.1.1 and 3.1; the service accepts both. */
const VERSIONS: readonly (number | undefined)[] = [4, 3];

/** Why the service would refuse a CONNECT, and with which code; undefined if it would accept it. */
export function loginFault(
  { clientId, username, password, protocolVersion }: IConnectPacket,
  { deviceId, credential }: Account,
): { readonly text: string; readonly returnCode: number } | undefined {
  if (!VERSIONS.includes(protocolVersion))
    return { text: `protocol level ${protocolVersion}, which is not MQTT 3.1.1`, returnCode: UNACCEPTABLE_VERSION };
  const wrong = [
    ...(clientId === deviceId ? [] : [`client id "${clientId}"`]),
    ...(username === deviceId ? [] : [username === undefined ? 'no user name' : `user name "${username}"`]),
    ...(password?.toString() === credential ? [] : [password === undefined ? 'no password' : 'another password']),
  ];
  return wrong.length > 0 ? { text: wrong.join(', '), returnCode: BAD_CREDENTIAL } : undefined;
}
