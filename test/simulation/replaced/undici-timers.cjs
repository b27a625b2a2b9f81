'use strict';
// undici counts all its long timers on one timer of the process. In a world that one would belong to the program that was
// first, and end with it.
const set = (callback, delay, argument) => setTimeout(() => callback(argument), delay);
module.exports = {
  setTimeout: set,
  clearTimeout: (timer) => clearTimeout(timer),
  setFastTimeout: set,
  clearFastTimeout: (timer) => clearTimeout(timer),
  now: () => performance.now(),
};
