import hooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/**
 * tap follows every promise and socket of the process with a hook, to know the test of an error that nobody catches.
 * That costs a twelfth of the processor time of all tests. Here such an error fails the test that began last
 * (`prepared.ts`), and the hook does nothing. This module is imported before tap.
 */
hooks.createHook = () => {
  const inert = { enable: () => inert, disable: () => inert };
  return inert;
};
syncBuiltinESMExports();
