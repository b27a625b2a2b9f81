import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Test } from 'tap';
import { fixedPorts, refusedOn, type ServiceProcess, startProcess } from './service-process.ts';

/** What is killed, as the world around it sees it. */
export interface CrashTarget {
  /** Ports that stay, whoever is killed. */
  readonly http: number;
  readonly admin: number;
  readonly mqtt: number;
  /** A device may be refused for a while: what its login needs can be away although somebody listens. */
  readonly mayRefuse: boolean;
  /** Ends all of it in good order. */
  stop(): Promise<void>;
  /** Every webhook delivery as it is stored, after the end. */
  deliveries(): Promise<{ id: number; status: string }[]>;
}

/** The service as a process of its own, on ports that stay. */
export async function startCrashTarget(t: Test) {
  const dataDir = t.testdir();
  const [http, admin, mqtt] = (await fixedPorts(3)) as [number, number, number];
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
    /** Resolves while the service runs; when it was killed, at its next start. */
    up: (): Promise<void> => (running ? Promise.resolve() : up.promise),
    /** SIGKILL, now. */
    kill(): void {
      if (running) ends('SIGKILL');
    },
    /** Asks it to end (SIGTERM), and resolves when it has ended as it should: with 0, and nothing to warn of. */
    async stop(): Promise<void> {
      ends('SIGTERM');
      t.same(await service.closed, { code: 0, signal: null }, 'it ends in good order');
      t.equal(service.output.stderr, '', 'it has nothing to warn of');
    },
    /** Asks it twice. */
    async stopTwice(): Promise<{ code: number | null; signal: string | null }> {
      service.signal('SIGTERM');
      await refusedOn(http); // it has heard the first one
      service.signal('SIGTERM');
      return service.closed;
    },
    /** Starts the service again on what the one before left. */
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
