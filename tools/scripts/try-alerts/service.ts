import { ADMIN_TOKEN, type Addresses, startProcess } from '../../../test/flow/service-process.ts';
import { freePorts } from '../../harness/free-port.ts';

type Options = Parameters<typeof startProcess>[2];

export type Service = Awaited<ReturnType<typeof createService>>;

/**
 * A service whose addresses stay the same when it starts again. `env` are its settings in addition to the usual ones. It
 * is killed when it is disposed of, and with this process.
 */
export async function createService(env: Record<string, string | undefined>, options: Options = {}) {
  const [http, admin, mqtt] = await freePorts(3);
  const ports = { LAPEL_HTTP_PORT: `${http}`, LAPEL_ADMIN_PORT: `${admin}`, LAPEL_MQTT_PORT: `${mqtt}` };
  let kill: () => unknown = () => undefined;
  process.on('exit', () => kill());
  const teardown = (end: () => unknown): void => {
    kill = end;
  };
  const begin = (more: Record<string, string | undefined> = {}) =>
    startProcess({ teardown }, { ...ports, ...env, ...more }, options);
  let running = await begin();

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    running.signal('SIGCONT');
    running.signal(signal);
    await running.closed;
  };
  return {
    /** For Prometheus. */
    target: `127.0.0.1:${admin}`,
    token: ADMIN_TOKEN,
    addresses: (): Addresses => running.addresses,
    pid: (): number => running.pid ?? 0,
    signal: (name: 'SIGSTOP' | 'SIGCONT' | 'SIGHUP' | 'SIGKILL'): boolean => running.signal(name),
    end,
    /** Starts it again, with more settings; after a kill, or instead of one. */
    async start(more?: Record<string, string | undefined>): Promise<void> {
      running = await begin(more);
    },
    [Symbol.asyncDispose]: () => end('SIGKILL'),
  };
}
