import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { createAuthority } from '../../../../test/broker/authority.ts';
import { damage } from '../../../../test/database/sqlite/damage.ts';
import { createFleet } from '../fleet.ts';
import { inBoundedMemory } from '../memory.ts';
import { createService } from '../service.ts';
import type { Stand } from '../stand.ts';
import { repeat } from '../until.ts';

const MIB = 1024 ** 2;
const DAY = 86_400_000;
/**
 * The memory of a process, as a part of what a process without a limit uses. With a limit it uses less, and some of it are
 * pages of files, which the limit does not count.
 */
const MEMORY_FACTOR = 0.86;

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}

/** A service whose disk, processor, memory, open files, certificates and database file get into trouble. */
export async function troubleMachine({ folder, prometheus, faults }: Stand): Promise<void> {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  run('mount', '-t', 'tmpfs', '-o', 'size=3g', 'tmpfs', disk);
  const unmount = (): void => void spawnSync('umount', ['-l', disk]);
  process.prependOnceListener('exit', unmount); // a run that is interrupted: before its folder is removed
  using _ = { [Symbol.dispose]: unmount };
  const dataDir = join(disk, 'data');
  const authority = createAuthority(folder, 'trial');
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const certify = (days: number): void => {
    const signed = authority.sign('localhost', `of-${days}-days`, days);
    writeFileSync(cert, signed.cert);
    writeFileSync(key, signed.key);
  };
  certify(365);
  await using service = await createService({
    LAPEL_DATA_DIR: dataDir,
    LAPEL_MQTTS_PORT: '0',
    LAPEL_TLS_CERT: cert,
    LAPEL_TLS_KEY: key,
    LAPEL_MQTT_CLIENT_CA: authority.ca,
    LAPEL_MQTT_CLIENT_CRL: authority.revoke(),
  });
  const fleet = createFleet(service.addresses);
  await fleet.developer('acme');
  await prometheus.watch('lapel-machine', [service.target]);
  /** The memory of the process, at the end of its start. */
  const residentBytes = async (): Promise<number> => {
    await pause(3000);
    const metrics = await (await fetch(`${service.addresses().admin}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]);
  };
  let stop = async (): Promise<void> => undefined;
  const end = (): Promise<void> => stop();

  const filler = join(disk, 'filler');
  let bytes = 1700 * MIB;
  await faults.try({
    alerts: ['LapelDiskFills'],
    fault: 'a file on the disk of the data folder grows',
    make: () => {
      run('fallocate', '-l', String(bytes), filler);
      stop = repeat(() => {
        bytes += 4 * MIB;
        run('fallocate', '-l', String(bytes), filler);
      }, 1000);
    },
    end: async () => {
      await stop();
      rmSync(filler);
    },
  });
  await faults.try({
    alerts: ['LapelDiskLow'],
    fault: 'the disk of the data folder is nearly full',
    make: () => run('fallocate', '-l', String(2300 * MIB), filler),
    end: () => rmSync(filler),
  });
  await faults.try({
    alerts: ['LapelEventLoopSlow'],
    fault: 'the process stands still for 0.4 s again and again',
    make: () => {
      stop = repeat(async () => {
        service.signal('SIGSTOP');
        await pause(400);
        service.signal('SIGCONT');
      }, 200);
    },
    end,
  });
  await faults.try({
    alerts: ['LapelFilesExhausted'],
    fault: 'the process may not open another file',
    make: () => run('prlimit', '--nofile=20:', '--pid', String(service.pid())),
    end: () => run('prlimit', '--nofile=4096:', '--pid', String(service.pid())),
  });
  const renew = (days: number): void => {
    certify(days);
    service.signal('SIGHUP');
  };
  await faults.try({
    alerts: ['LapelCertificateExpiresSoon'],
    fault: 'the certificate of the MQTT listener expires in 20 days',
    make: () => renew(20),
    end: () => renew(365),
  });
  await faults.try({
    alerts: ['LapelCertificateExpires'],
    fault: 'the certificate of the MQTT listener expires in 5 days',
    make: () => renew(5),
    end: () => renew(365),
  });
  await faults.try({
    alerts: ['LapelRevocationListEnds'],
    fault: 'a tenth of the time of the revocation list is left',
    make: () => {
      authority.writeList({ begins: -9 * DAY, ends: DAY });
      service.signal('SIGHUP');
    },
    end: () => {
      authority.revoke();
      service.signal('SIGHUP');
    },
  });
  await faults.try({
    alerts: ['LapelMemoryLow'],
    fault: 'the process may use hardly more memory than it has',
    make: async () => {
      await service.end('SIGTERM');
      await service.start();
      const used = await residentBytes();
      await service.end('SIGTERM');
      await inBoundedMemory(MEMORY_FACTOR * used, () => service.start());
    },
    end: async () => {
      await service.end('SIGTERM');
      await service.start();
    },
  });

  const file = join(dataDir, 'lapel.db');
  /** Inserts rows into the database, one for each of `numbers`. */
  const fill = (insert: string, rows: number): void => {
    const raw = new Sqlite(file);
    raw
      .prepare(
        `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows}) ${insert}`,
      )
      .run();
    raw.pragma('wal_checkpoint(TRUNCATE)');
    raw.close();
  };
  const kept = join(folder, 'kept.db');
  await faults.try({
    alerts: ['LapelNumbersRaised'],
    fault: 'the database file is exchanged for an older copy',
    make: async () => {
      await service.end('SIGTERM');
      copyFileSync(file, kept);
      await service.start();
      await fleet.developer('later');
      await service.end('SIGTERM');
      rmSync(file);
      copyFileSync(kept, file);
      await service.start();
    },
    end: () => undefined, // the alert tells of what has happened
  });
  await faults.try({
    alerts: ['LapelDatabaseUnchecked'],
    fault: 'the database is large, so that its check takes long',
    make: async () => {
      await service.end('SIGTERM');
      fill(
        `INSERT INTO audit_log (at, actor_kind, action, resource, request_id, status)
         SELECT 0, 'command line', 'trial', '/', 'trial', 200 FROM numbers`,
        1_500_000,
      );
      await service.start();
    },
    end: () => undefined, // the check ends
  });
  await faults.try({
    alerts: ['LapelDatabaseDamaged'],
    fault: 'a page of the database file is overwritten',
    make: async () => {
      await service.end('SIGTERM');
      copyFileSync(file, kept);
      fill("INSERT INTO developers (developer_id, name, created_at) SELECT 'z' || n, 'trial', 0 FROM numbers", 1_000);
      damage(dataDir, 'developers', 'leaf');
      await service.start();
    },
    end: async () => {
      await service.end('SIGTERM');
      copyFileSync(kept, file);
      await service.start();
    },
  });
}
