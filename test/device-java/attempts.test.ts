import t from 'tap';
import { missing } from '../installed.ts';
import { runClass } from './java.ts';

t.test(
  'a device in Java that leaves while an attempt waits makes one attempt, and no second one',
  { skip: missing.java() },
  async (t) => {
    t.equal((await runClass('Attempts', [])).trim(), '1');
  },
);
