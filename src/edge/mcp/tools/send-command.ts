import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { inTwoSteps, PROPOSAL } from '../proposal.ts';
import { Unanswered } from '../session.ts';
import { seen } from '../times.ts';
import { DEVICE, TEXT, tool } from '../tool.ts';

interface Given {
  deviceId: string;
  operation: keyof typeof OPERATIONS;
  package?: string;
  version?: string;
  lang?: string;
  enabled?: boolean;
  kinds?: string[];
  proposal?: string;
}

const NAME = 'send_command';

/** The operation of the API for each command, and its body. Wi-Fi and APN are no part: a password would go through the assistant. */
const OPERATIONS = {
  installSoftware: { call: 'installSoftware', needs: ['package', 'version'] },
  updateFirmware: { call: 'updateFirmware', needs: ['package', 'version'] },
  setLanguage: { call: 'setLanguage', needs: ['lang'] },
  setConnectivityState: { call: 'changeConnectivity', needs: ['enabled'] },
  collectDiagnostics: { call: 'collectDiagnostics', needs: ['kinds'] },
} as const;

export const sendCommand = tool<Given>({
  name: NAME,
  title: 'Send a command to one device',
  description:
    'Send a command to one device: install software, update the firmware, set the language, switch Bluetooth on or off, collect diagnostics (logs). Two calls: the first proposes, the second confirms.',
  writes: 'svc:device:write',
  properties: {
    deviceId: DEVICE,
    operation: { enum: Object.keys(OPERATIONS) },
    package: TEXT('For installSoftware and updateFirmware.'),
    version: TEXT('For installSoftware and updateFirmware.', 128),
    lang: TEXT('For setLanguage, such as ja-JP.', 35),
    enabled: { type: 'boolean', description: 'For setConnectivityState: Bluetooth on or off.' },
    kinds: {
      type: 'array',
      maxItems: 8,
      items: { type: 'string', maxLength: 32 },
      description: 'For collectDiagnostics, such as ["logs"].',
    },
    proposal: PROPOSAL,
  },
  required: ['deviceId', 'operation'],
  async run(session, { proposal, ...given }, report) {
    const { deviceId, operation } = given;
    const { call, needs } = OPERATIONS[operation];
    const body: Record<string, unknown> = operation === 'setConnectivityState' ? { type: 'bluetooth' } : {};
    for (const name of needs) {
      if (given[name] === undefined) throw new Unanswered(`${operation} needs ${needs.join(' and ')}.`);
      body[name] = given[name];
    }
    const params = { deviceId };
    await inTwoSteps(session, report, {
      tool: NAME,
      given,
      proposal,
      what: `send ${operation} ${data(JSON.stringify(body), 200)} to the device ${deviceId}`,
      async look() {
        const status = await session.ask<SchemaTypes['rest/device-status']>('readStatus', { params });
        const { transactions } = await session.ask<SchemaTypes['rest/transaction-list']>('listTransactions', {
          params,
          query: { operation, limit: 50 },
        });
        const open = transactions.filter(({ status: state }) =>
          ['queued', 'delivered', 'processing'].includes(state),
        ).length;
        return {
          effect: { devices: 1, unfinishedOfThisOperation: open },
          lines: [
            status.connected
              ? 'The device is connected: it gets the command at once.'
              : `The device is offline, ${seen(status.lastSeenAt, session.zone)}: the command waits until it connects.`,
          ],
        };
      },
      async act(_, key) {
        const { transactionId } = await session.ask<SchemaTypes['rest/transaction-response']>(call, {
          params,
          body,
          headers: { 'idempotency-key': key },
          via: { assistant: session.assistant, tool: NAME },
        });
        return [
          `Done: command ${transactionId} waits for the device ${deviceId}.`,
          `Console: ${session.link('transactions', transactionId)}`,
        ];
      },
    });
  },
});
