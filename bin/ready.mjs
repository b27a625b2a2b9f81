#!/usr/bin/env node
// Asks the service on this machine whether it is ready, for the HEALTHCHECK of a container: ends with 0 if it is. It loads
// as little as possible, because it runs often.
import { get } from 'node:http';

const HOST = process.env.LAPEL_ADMIN_HOST ?? '127.0.0.1';
const EVERYWHERE = ['0.0.0.0', '::', '0'];
const host = EVERYWHERE.includes(HOST) ? 'localhost' : HOST;
const path = '/readyz';
const port = process.env.LAPEL_ADMIN_PORT ?? '8081';
/** The answer says which part is not ready. */
const tell = async (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  response.pipe(process.stdout);
};
const fail = (error) => {
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 1;
};

get({ host, port, path, timeout: 4000 }, tell)
  .on('timeout', function () {
    this.destroy(new Error('no answer in time'));
  })
  .on('error', async (error) => {
    if (error.code !== 'ECONNRESET' && !error.code?.startsWith('HPE_')) return fail(error);
    // The listener speaks TLS. Its certificate names other hosts than this one, so it is not looked at.
    const { get: getSecure } = await import('node:https');
    getSecure({ host, port, path, timeout: 4000, rejectUnauthorized: false }, tell).on('error', fail);
  });
