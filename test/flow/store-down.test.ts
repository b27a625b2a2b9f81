import t from 'tap';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createEmbeddedStore } from '../../src/objects/embedded-store.ts';
import { createFakeClock } from '../fake-clock.ts';
import { startWorld, transactionIdOf } from '../world.ts';

const CREDENTIALS = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret of the test' };
const VERSION = { package: 'com.example.camera', version: '1.0.0' };

t.test(
  'an object store that is down gives a clear 500 and a failed transaction; all goes on when it is back',
  async (t) => {
    // A store of its own, used by settings as any S3-compatible one; its credentials come from the AWS chain.
    process.env['AWS_ACCESS_KEY_ID'] = CREDENTIALS.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = CREDENTIALS.secretAccessKey;
    const folder = t.testdir({ store: {}, data: {} });
    const clock = createFakeClock();
    const startStore = async (at: number) => {
      const store = createEmbeddedStore({
        folder: `${folder}/store`,
        credentials: CREDENTIALS,
        bucket: 'lapel',
        region: 'us-east-1',
        clock,
        log: createLog({ level: 'silent', pretty: false }),
        metrics: createMetrics(),
      });
      t.teardown(() => store[Symbol.asyncDispose]());
      return { store, port: (await store.listen('127.0.0.1', at)).port };
    };
    const { store, port } = await startStore(0);
    const env = { LAPEL_S3_ENDPOINT: `http://127.0.0.1:${port}` };
    const world = await startWorld(t, { clock, dataDir: `${folder}/data`, env });
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const install = () => tenant.api.put(`${device.path}/apps`, { json: VERSION });

    const upload = await tenant.api.post(`${tenant.path}/apps`, { json: { ...VERSION, fileSize: 4 } });
    t.equal((await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: 'file' })).status, 200);
    await tenant.api.post(`${tenant.path}/packages/${VERSION.package}/versions/${VERSION.version}/distributions`);
    await world.idle();
    await device.link.drop();
    const stranded = transactionIdOf(await install());

    await store[Symbol.asyncDispose]();
    t.match(await install(), { status: 500, body: { message: /object store/ } });
    const link = await world.connect(device);
    t.match((await tenant.event()).data.transaction, {
      transactionId: stranded,
      status: 'failed',
      error: { code: 'INTERNAL', message: 'the object store did not answer.' },
    });

    await startStore(port);
    const again = transactionIdOf(await install());
    const command = await link.command();
    t.match(command, { transactionId: again, operation: 'installSoftware' });
    t.equal(await (await fetch(String(command.parameters['url']))).text(), 'file');
  },
);
