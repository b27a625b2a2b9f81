import type { IConnectPacket } from 'mqtt-packet';

/** The identity of the device under test. */
export interface Account {
  readonly deviceId: string;
  readonly credential: string;
}

/** Return codes of CONNACK [MQTT-3.2.2.3]. */
const UNACCEPTABLE_VERSION = 1;
const BAD_CREDENTIAL = 4;

/** MQTT 3.1.1, 5 and 3.1; the service accepts all. */
const VERSIONS: readonly (number | undefined)[] = [4, 5, 3];

/** How a device proves in its login that it is itself. */
export type LoginBy = 'credential' | 'certificate';

/** The service looks at the certificate if there is no password, or an empty one, as some libraries send it. */
export const provenBy = ({ password }: IConnectPacket): LoginBy =>
  password === undefined || password.length === 0 ? 'certificate' : 'credential';

function wrongProof(
  packet: IConnectPacket,
  { deviceId, credential }: Account,
  certificateName: string | undefined,
): string[] {
  if (provenBy(packet) === 'credential') return packet.password?.toString() === credential ? [] : ['another password'];
  if (certificateName === deviceId) return [];
  return [certificateName === undefined ? 'no password' : `no password, and a certificate of "${certificateName}"`];
}

/**
 * Why the service would refuse a CONNECT, and with which code; undefined if it would accept it. `certificateName`: the
 * common name of the client certificate of the connection, if there is one.
 */
export function loginFault(
  packet: IConnectPacket,
  account: Account,
  certificateName: string | undefined,
): { readonly text: string; readonly returnCode: number } | undefined {
  const { clientId, username, protocolVersion } = packet;
  const { deviceId } = account;
  if (!VERSIONS.includes(protocolVersion))
    return {
      text: `protocol level ${protocolVersion}, which is neither MQTT 3.1.1 nor 5`,
      returnCode: UNACCEPTABLE_VERSION,
    };
  const wrong = [
    ...(clientId === deviceId ? [] : [`client id "${clientId}"`]),
    ...(username === deviceId ? [] : [username === undefined ? 'no user name' : `user name "${username}"`]),
    ...wrongProof(packet, account, certificateName),
  ];
  return wrong.length > 0 ? { text: wrong.join(', '), returnCode: BAD_CREDENTIAL } : undefined;
}
