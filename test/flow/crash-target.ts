import { join } from 'node:path';
import { freePorts } from '@lapel/tools/harness/free-port';
import Sqlite from 'better-sqlite3';
import type { Test } from 'tap';
import { refusedOn, type ServiceProcess, startProcess } from './service-process.ts';

/** The processes that are killed, as seen from outside. */
export interface CrashTarget {
  /** The same ports after each kill. */
  readonly http: number;
  readonly admin: number;
  readonly mqtt: number;
  /**
   * Whether a login may be refused for a while: the part that a login needs may be away although the listener is there.
   */
  readonly mayRefuse: boolean;
  /** Stops all processes in order. */
  stop(): Promise<void>;
  /** Every stored webhook delivery, after the end. */
  deliveries(): Promise<{ id: number; status: string }[]>;
}

/** The service as a separate process, on fixed ports. */
export async function startCrashTarget(t: Test) {
  const dataDir = t.testdir();
  const [http, admin, mqtt] = (await freePorts(3)) as [number, number, number];
  const env = {
    LAPEL_DATA_DIR: dataDir,
    LAPEL_HTTP_PORT: String(http),
    LAPEL_ADMIN_PORT: String(admin),
    LAPEL_MQTT_PORT: String(mqtt),
  };
  let service: ServiceProcess = await startProcess(t, env);
  let running = true;
  let up = Promise.withResolvers<void>();

  function ends(signal: 'SIGKILL' | 'SIGTERM'): void {
    running = false;
    up = Promise.withResolvers();
    service.signal(signal);
  }

  return {
    http,
    admin,
    mqtt,
    mayRefuse: false,
    /** Resolves at once while the service runs; after a kill, at its next start. */
    up: (): Promise<void> => (running ? Promise.resolve() : up.promise),
    /** Kills it with SIGKILL. */
    kill(): void {
      if (running) ends('SIGKILL');
    },
    /** Stops it with SIGTERM; resolves when it has ended with code 0 and without warnings. */
    async stop(): Promise<void> {
      ends('SIGTERM');
      t.same(await service.closed, { code: 0, signal: null }, 'it ends in good order');
      t.equal(service.output.stderr, '', 'it has nothing to warn of');
    },
    /** Sends SIGTERM twice. */
    async stopTwice(): Promise<{ code: number | null; signal: string | null }> {
      service.signal('SIGTERM');
      await refusedOn(http); // it has handled the first SIGTERM
      service.signal('SIGTERM');
      return service.closed;
    },
    /** Starts the service again on the data of the former process. */
    async restart(): Promise<void> {
      await service.closed;
      t.equal(service.output.stderr, '', 'it had nothing to warn of');
      service = await startProcess(t, env);
      running = true;
      up.resolve();
    },
    async deliveries(): Promise<{ id: number; status: string }[]> {
      const database = new Sqlite(join(dataDir, 'lapel.db'), { readonly: true });
      const rows = database.prepare('SELECT transaction_id AS id, status FROM deliveries').all();
      database.close();
      return rows as { id: number; status: string }[];
    },
  };
}
