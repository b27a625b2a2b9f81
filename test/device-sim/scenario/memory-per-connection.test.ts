import { memoryPerConnection } from '@lapel/device-sim/scenario/memory-per-connection';
import t from 'tap';

const KEPT = 80_000_000;

t.test('the memory of the service is divided by the connections of all processes of a run', async (t) => {
  t.equal(memoryPerConnection({ connections: 4_000, processes: 1, kept: KEPT }), 20_000);
  t.equal(memoryPerConnection({ connections: 1_000, processes: 4, kept: KEPT }), 20_000);
});

t.test('few connections are not weighed, and neither is a service whose memory is not known', async (t) => {
  t.equal(memoryPerConnection({ connections: 1_999, processes: 1, kept: KEPT }), 0);
  t.equal(memoryPerConnection({ connections: 999, processes: 2, kept: KEPT }), 0);
  t.equal(memoryPerConnection({ connections: 4_000, processes: 1, kept: undefined }), undefined);
});
