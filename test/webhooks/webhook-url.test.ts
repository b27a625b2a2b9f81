import t from 'tap';
import { createSettingUrlRule, webhookUrlFault } from '../../src/core/webhooks/http/webhook-url.ts';

const verdict = (url: string, allowHttp = false) => webhookUrlFault('callEvent', url, allowHttp)?.type ?? 'fine';

void t.test('a webhook URL is absolute https, or http where that is allowed', async (t) => {
  const rows: [string, string][] = [
    ['https://example.com', 'fine'],
    ['https://example.com:8443/hook?a=b', 'fine'],
    ['HTTPS://EXAMPLE.COM/', 'fine'],
    ['http://localhost:8080/', 'fine'],
    ['http://127.0.0.1/', 'fine'],
    ['http://127.9.9.9/', 'fine'],
    ['http://[::1]:9/', 'fine'],
    ['http://example.com/', 'url_scheme'],
    ['http://localhost.example.com/', 'url_scheme'],
    ['ftp://example.com/', 'url_scheme'],
    ['javascript:alert(1)', 'url_parsing'],
    ['', 'url_parsing'],
    ['/hook', 'url_parsing'],
    ['//example.com/', 'url_parsing'],
    ['https:example.com', 'url_parsing'],
    ['https:///example.com', 'url_parsing'],
    ['https://exa mple.com/', 'url_parsing'],
    [' https://example.com/', 'url_parsing'],
    ['https://example.com/\n', 'url_parsing'],
    ['https://example.com:99999/', 'url_parsing'],
    ['https://user:pass@example.com/', 'url_parsing'],
    ['https://user@example.com/', 'url_parsing'],
    [`https://example.com/${'x'.repeat(2028)}`, 'fine'],
    [`https://example.com/${'x'.repeat(2029)}`, 'string_too_long'],
  ];
  for (const [url, expected] of rows) t.equal(verdict(url), expected, url.slice(0, 60));
});

void t.test('http is allowed for every host only by the setting, which allows nothing else', async (t) => {
  t.equal(verdict('http://example.com/', true), 'fine');
  t.equal(verdict('ftp://example.com/', true), 'url_scheme');
  t.equal(verdict('http://user@example.com/', true), 'url_parsing');
});

t.test('services with the same allowances share one rule, and with it the schemas', async (t) => {
  const rule = createSettingUrlRule({ allowHttp: true, allowPrivate: true });
  t.equal(createSettingUrlRule({ allowHttp: true, allowPrivate: true }), rule);
  t.not(createSettingUrlRule({ allowHttp: true, allowPrivate: false }), rule);
});
