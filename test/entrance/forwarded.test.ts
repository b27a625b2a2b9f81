import t from 'tap';
import { type Proxies, readForwarded } from '../../src/platform/entrance/forwarded.ts';
import { plainAddress, readNetworks } from '../../src/runtime/networks.ts';
import { problemOf } from '../../src/runtime/setting-values.ts';

const PROXY = '10.0.0.1';
const trusted = readNetworks('10.0.0.0/8, fd00::/8, loopback')!;
const any: Proxies = { trusted, choice: 'any' };

t.test('addresses and networks are read in every form that people write', async (t) => {
  for (const [text, inside, outside] of [
    ['10.0.0.7', ['10.0.0.7', '::ffff:10.0.0.7', '::ffff:a00:7'], ['10.0.0.8', '', 'nobody']],
    ['10.0.0.0/8,192.168.0.0/16', ['10.255.0.1', '192.168.3.4', '::ffff:192.168.3.4'], ['11.0.0.1', '192.169.0.1']],
    ['2001:DB8::/32', ['2001:db8::1', '2001:0db8:0:0:0:0:0:1'], ['2001:db9::1', '32.1.13.184']],
    ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'], ['128.0.0.1', '::2']],
    ['fe80::/10', ['fe80::1%eth0'], ['febf::1%eth0'.replace('febf', 'fec0')]],
  ] as const) {
    const networks = readNetworks(text);
    for (const address of inside) t.equal(networks?.has(address), true, `${address} is in ${text}`);
    for (const address of outside) t.equal(networks?.has(address), false, `${address || 'nothing'} is not in ${text}`);
  }
  for (const text of [
    '',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '::/0',
    'fd00::/129',
    '10.0.0.0/8/8',
    'proxy.example',
    '10.0.0.1,',
    '10.0.0.0/08',
    '::ffff:10.0.0.0/104',
    'fe80::1%eth0',
  ]) {
    t.match(problemOf('networks', text), /must be IP addresses and networks/, `"${text}" is refused`);
  }
  t.equal(plainAddress('FE80:0:0::1%eth0'), 'fe80::1', 'one form for each address');
});

t.test('the client is the last address that is not one of a proxy', async (t) => {
  for (const [header, client] of [
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['2001:DB8::7', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['[fe80::7%eth0]:4711', 'fe80::7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['[::ffff:192.0.2.7]:4711', '192.0.2.7'],
    ['6.6.6.6, 192.0.2.7', '192.0.2.7'],
    ['6.6.6.6, 192.0.2.7, 10.0.0.9', '192.0.2.7'],
    ['10.0.0.8,10.0.0.9', '10.0.0.8'],
    ['192.0.2.7, unknown', PROXY],
    ['192.0.2.7, nonsense, 10.0.0.9', '10.0.0.9'],
    ['192.0.2.7, 10.0.0.9,', PROXY],
    ['', PROXY],
    [',', PROXY],
    ['192.0.2.7:port', PROXY],
    ['[192.0.2.7]', PROXY],
    ['192.0.2.7 6.6.6.6', PROXY],
    [`${'6.6.6.6,'.repeat(5000)}192.0.2.7`, '192.0.2.7'],
    [','.repeat(5000), PROXY],
    [`${'10.0.0.9,'.repeat(5000)}10.0.0.9`, '10.0.0.9'],
    [`192.0.2.7,${'x'.repeat(10_000)}`, PROXY],
  ] as const) {
    const read = readForwarded({ 'x-forwarded-for': header }, PROXY, any);
    t.equal(read.address, client, `X-Forwarded-For: ${header.slice(0, 50)}`);
  }
});

t.test(
  'Forwarded names the client as X-Forwarded-For does, and a client cannot swallow what a proxy adds',
  async (t) => {
    for (const [header, client, host] of [
      ['for=192.0.2.7', '192.0.2.7', undefined],
      ['For="192.0.2.7:4711";proto=https;host="lapel.example:8443"', '192.0.2.7', 'lapel.example:8443'],
      ['by=203.0.113.43; for="[2001:db8::7]:4711" ; HOST=a.example', '2001:db8::7', 'a.example'],
      ['for=192.0.2.7:4711', '192.0.2.7', undefined],
      ['for=6.6.6.6, for=192.0.2.7;host=b.example, for=10.0.0.9;host=c.example', '192.0.2.7', 'c.example'],
      ['for=192.0.2.7, for=unknown', PROXY, undefined],
      ['for=192.0.2.7, for=_hidden', PROXY, undefined],
      ['for="6.6.6.6, for=192.0.2.7', '192.0.2.7', undefined],
      ['for=6.6.6.6;x=", for=192.0.2.7', '192.0.2.7', undefined],
      ['for=192.0.2.7;host="evil, for=6.6.6.6"', PROXY, undefined],
      ['for=192.0.2.7;host="evil, for=6.6.6.6;x=\\""', PROXY, undefined],
      ['for=192.0.2.7;for=6.6.6.6', PROXY, undefined],
      ['for=192.0.2.7;host="<script>"', '192.0.2.7', undefined],
      ['for', PROXY, undefined],
      ['for=', PROXY, undefined],
      [';', PROXY, undefined],
    ] as const) {
      t.match(readForwarded({ forwarded: header }, PROXY, any), { address: client, host, contradicts: false }, header);
    }
  },
);

t.test(
  'two headers that contradict each other count for the proxy, unless a setting names the one that it writes',
  async (t) => {
    const headers = {
      forwarded: 'for=6.6.6.6;host=a.example',
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-host': 'x, b.example',
    };
    t.same(readForwarded(headers, PROXY, any), { address: PROXY, host: 'b.example', contradicts: true });
    const usual: Proxies = { trusted, choice: 'x-forwarded' };
    t.same(readForwarded(headers, PROXY, usual), { address: '192.0.2.7', host: 'b.example', contradicts: false });
    const standard: Proxies = { trusted, choice: 'forwarded' };
    t.same(readForwarded(headers, PROXY, standard), { address: '6.6.6.6', host: 'a.example', contradicts: false });
    const same = { ...headers, forwarded: 'for="192.0.2.7:1"' };
    t.same(readForwarded(same, PROXY, any), { address: '192.0.2.7', host: 'b.example', contradicts: false });
  },
);
