import type { Contracts } from '@lapel/schemas/contracts/contracts';
import type { Config } from '../../config.ts';
import type { Proof } from '../../core/devices/login-proof.ts';
import type { DeviceLink } from '../../core/outbox/connection-state.ts';
import type { ResponseLink } from '../../core/requests/response-sender.ts';
import type { ConnectionLog } from '../../core/sessions/connection-log.ts';
import type { DelayedWills } from '../../core/sessions/delayed-wills.ts';
import type { Presence } from '../../core/sessions/presence.ts';
import type { Sessions } from '../../core/sessions/sessions.ts';
import type { Seen, Takeover } from '../../core/sessions/takeover.ts';
import type { Metrics } from '../../metrics.ts';
import type { Proxies } from '../../platform/entrance/forwarded.ts';
import type { HostNames } from '../../platform/entrance/host-names.ts';
import type { ProxyGate } from '../../platform/entrance/proxy-gate.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { Handlers } from './inbound.ts';

/** The settings of the broker, and the parts of the service that it needs. */
export interface BrokerParts extends Omit<Config['mqtt'], 'host' | 'port'> {
  sessions: Sessions;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  watch: Watch;
  /**
   * Checks that the device is registered, that the proof of identity is valid, and that the device may connect. With
   * `sql` the check runs in that unit of work.
   */
  authenticate(deviceId: string, proof: Proof, sql?: Seen): Promise<'good' | 'bad' | 'blocked'>;
  /** The developerId of a logged-in device; undefined while it is not known. */
  ownerOf(deviceId: string): string | undefined;
  /** Set in a cluster: moves devices from other nodes to this one. */
  takeover?: Pick<Takeover, 'enter' | 'left'> | undefined;
  nodeId?: (() => string) | undefined;
  contracts: Pick<Contracts, 'read' | 'accepts'>;
  handlers: Handlers;
  /**
   * Called when a device is connected and subscribed to its topic for commands. The returned function is called when
   * the device disconnects or unsubscribes.
   */
  open(link: DeviceLink): () => void;
  /**
   * Called when a device is connected and subscribed to its topic for responses. The returned function is called when
   * the device disconnects or unsubscribes.
   */
  openResponses(link: ResponseLink): () => void;
  presence: Pick<Presence, 'heard' | 'left'>;
  connectionLog: Pick<ConnectionLog, 'connected' | 'ended' | 'refused'>;
  delayedWills: Pick<DelayedWills, 'ended' | 'isBack'>;
  /** The number of commands that callers create per second at present. */
  commands(): number;
  /** Reads the headers of the PROXY protocol; undefined for a listener whose connections have none. */
  gateOf?(listener: 'mqtt' | 'mqtts' | 'ws'): ProxyGate | undefined;
  /** The proxies in front of the listeners; undefined when none is trusted. */
  proxies?: Proxies | undefined;
  /** The host names that browsers may have in `Host`; undefined accepts every name. */
  names?: HostNames;
}
