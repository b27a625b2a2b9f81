import t from 'tap';
import { createInFlight } from '../../src/events/in-flight.ts';

t.test('each bound holds by itself, and a place that is left is free again', async (t) => {
  const inFlight = createInFlight({ device: 2, application: 2, service: 3 });
  t.same([inFlight.enter('a'), inFlight.enter('a'), inFlight.enter('a')], [undefined, undefined, 'device']);
  t.equal(inFlight.enter('b'), undefined);
  t.equal(inFlight.enter('c'), 'service');
  inFlight.leave('b');
  t.equal(inFlight.enter('c'), undefined);
  inFlight.leave('a');
  t.equal(inFlight.enter('a'), undefined);
  const places = ['x', 'x', 'x', 'y'].map((applicationId) => inFlight.enterApplication(applicationId));
  t.same(places, [undefined, undefined, 'application', undefined], 'one application leaves room for the others');
  inFlight.leaveApplication('x');
  t.equal(inFlight.enterApplication('x'), undefined);
});
