import { DomainError, ERRORS, type ErrorCode } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { errorHeaders } from '../../src/edge/http/error-answer.ts';

/** These are answered to devices, over MQTT. */
const TO_DEVICES: readonly ErrorCode[] = ['EVENT_BYTES_EXCEEDED'];

t.test('an answer that asks for another attempt later says when', async (t) => {
  const passing = (Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => [429, 503].includes(ERRORS[code].status) && !TO_DEVICES.includes(code),
  );
  t.ok(passing.length >= 10);
  for (const code of passing) {
    const headers = errorHeaders(new DomainError(code, { values: { seconds: 7 } }), null);
    t.match(headers['Retry-After'], /^[1-9]\d*$/, code);
  }
});
