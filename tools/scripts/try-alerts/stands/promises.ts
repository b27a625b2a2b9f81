import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { activate, createFleet, startReceiver, WIFI } from '../fleet.ts';
import { createService } from '../service.ts';
import type { Stand } from '../stand.ts';
import { repeat, until } from '../until.ts';

/** A service with customers, whose receivers and devices break promises, and which then ends again and again. */
export async function breakPromises({ folder, prometheus, faults }: Stand): Promise<void> {
  const dataDir = join(folder, 'data');
  await using service = await createService({ LAPEL_DATA_DIR: dataDir });
  const fleet = createFleet(service.addresses);
  using receiver = await startReceiver();
  using other = await startReceiver();
  await fleet.developer('acme');
  const patrol = await fleet.application('acme', 'patrol', receiver.url);
  const depot = await fleet.application('acme', 'depot', other.url);
  const [first, second] = [await fleet.device('acme'), await fleet.device('acme')];
  let link = await fleet.connect(first);
  const otherLink = await fleet.connect(second);
  await activate(patrol, first, link);
  await activate(depot, second, otherLink);
  await prometheus.watch('lapel-promises', [service.target]);
  await faults.firstTarget();

  const fail = async (application: typeof patrol, to: typeof link, { deviceId }: typeof first): Promise<void> => {
    await application.call('PUT', `/devices/${deviceId}/settings/wifi`, WIFI);
    const { transactionId, packet } = await to.command();
    to.puback(packet);
    await to.ack({ transactionId, status: 'failed' });
  };
  const redeliver = async (): Promise<void> => {
    for (const { applicationId } of [patrol, depot])
      await fleet.admin('POST', `/applications/${applicationId}/deliveries/redeliver`, { status: 'pending' });
  };

  let failing = async (): Promise<void> => undefined;
  await faults.try({
    alerts: ['LapelReceiversFailing', 'LapelWebhooksFail'],
    fault: 'the receivers of two applications answer 500',
    make: () => {
      receiver.status = 500;
      other.status = 500;
      failing = repeat(async () => {
        await fail(patrol, link, first);
        await fail(depot, otherLink, second);
      }, 500);
    },
    end: async () => {
      await failing();
      receiver.status = 204;
      other.status = 204;
      await redeliver();
    },
  });

  const hanging = Promise.withResolvers<void>();
  await faults.try({
    alerts: ['LapelWebhooksLate'],
    fault: 'a receiver does not answer, so that the next webhooks wait',
    make: async () => {
      receiver.answers = hanging.promise;
      for (let each = 0; each < 40; each += 1) await fail(patrol, link, first);
    },
    end: async () => {
      receiver.answers = Promise.resolve();
      hanging.resolve();
      await redeliver();
    },
  });

  let silent: Awaited<ReturnType<typeof link.command>>;
  await faults.try({
    alerts: ['LapelDevicesSilent'],
    fault: 'a device gets a command and does not acknowledge it',
    make: async () => {
      await patrol.call('PUT', `/devices/${first.deviceId}/settings/wifi`, WIFI);
      silent = await link.command();
    },
    end: async () => {
      link.puback(silent.packet);
      await link.ack({ transactionId: silent.transactionId, status: 'succeeded' });
    },
  });

  await faults.try({
    alerts: ['LapelDevicesDeaf'],
    fault: 'a device ends its subscription to commands',
    make: async () => {
      link.send({ cmd: 'unsubscribe', messageId: 900, unsubscriptions: [`devices/${first.deviceId}/commands`] });
      await link.next('unsuback');
    },
    end: async () => {
      await link.subscribe(`devices/${first.deviceId}/commands`);
    },
  });

  await faults.try({
    alerts: ['LapelOverlooked'],
    fault: 'an answered request is due again, and nobody is told',
    make: async () => {
      await link.subscribe(`devices/${first.deviceId}/responses`);
      link.publish('requests', { requestId: 'r', type: 'weather', data: {} });
      link.puback(await link.next('publish'));
      const raw = new Sqlite(join(dataDir, 'lapel.db'), { timeout: 5000 });
      await until(
        () => 'the PUBACK of the answer is stored',
        async () => (raw.prepare('SELECT 1 FROM device_requests WHERE done_at IS NULL').get() ? undefined : true),
      );
      raw.prepare('UPDATE device_requests SET done_at = NULL').run();
      raw.close();
      link.puback(await link.next('publish'));
    },
    end: () => undefined, // the alert tells of what has happened
  });

  await faults.try({
    alerts: ['LapelIdentityContested'],
    fault: 'two devices use one identity',
    make: async () => {
      const twin = await fleet.device('acme');
      for (let each = 0; each < 6; each += 1) await fleet.connect(twin);
    },
    end: () => undefined, // the alert tells of what has happened
  });

  await faults.try({
    alerts: ['LapelRolloutPaused'],
    fault: 'the first device of a rollout fails, and the rollout stops at that',
    make: async () => {
      await patrol.call('POST', '/rollouts', {
        operation: 'setLanguage',
        parameters: { lang: 'ja' },
        devices: {},
        abort: { failedPercent: 10, minimumResults: 1 },
      });
      const { transactionId, packet } = await link.command();
      link.puback(packet);
      await link.ack({ transactionId, status: 'failed', error: { code: 'BROKEN', message: 'broken' } });
    },
    end: () => undefined, // the alert tells of what has happened
  });

  /** Makes all events older. */
  const age = (hours: number): void => {
    const raw = new Sqlite(join(dataDir, 'lapel.db'), { timeout: 5000 });
    raw.prepare('UPDATE deliveries SET created_at = created_at - ?').run(hours * 3_600_000_000);
    raw.close();
  };
  for (const [alert, hours, fault] of [
    ['LapelConsumersBehind', 2, 'a consumer has not handled events of two hours ago'],
    ['LapelConsumersLose', 28 * 24, 'a consumer has not handled events that are soon removed'],
  ] as const)
    await faults.try({
      alerts: [alert],
      fault,
      make: async () => {
        await patrol.call('PUT', '/events/consumers/billing', { after: 0 });
        age(hours);
      },
      end: async () => {
        age(-hours);
        await patrol.call('DELETE', '/events/consumers/billing');
      },
    });

  const crowd: (typeof link)[] = [];
  await faults.try({
    alerts: ['LapelDevicesGone'],
    fault: 'most devices lose their connections together',
    make: async () => {
      while (crowd.length < 30) crowd.push(await fleet.connect(await fleet.device('acme')));
      await pause(25_000); // the rule looks back
      for (const one of crowd) await one.drop();
    },
    end: () => undefined, // after the time that the rule looks back, this is the usual number
  });

  await faults.try({
    alerts: ['LapelNotReady'],
    fault: 'the data folder is gone',
    make: () => renameSync(dataDir, `${dataDir}-away`),
    end: () => renameSync(`${dataDir}-away`, dataDir),
  });
  await faults.expressions(service.addresses().admin);
  await faults.try({
    alerts: ['LapelDown'],
    fault: 'the service is killed',
    make: () => service.end('SIGKILL'),
    end: () => service.start(),
  });
  await faults.try({
    alerts: ['LapelRestarts'],
    fault: 'the service is killed again and again',
    make: async () => {
      for (let each = 0; each < 3; each += 1) {
        await pause(3000); // a scrape sees each start
        await service.end('SIGKILL');
        await service.start();
      }
    },
    end: () => undefined, // it runs, and is forgotten after a while
  });
  link = await fleet.connect(first);
  await link.drop();
}
