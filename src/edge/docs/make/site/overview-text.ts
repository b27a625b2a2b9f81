import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import { SLOTS } from '../../slots.ts';
import { pageOfTag, SECTIONS } from './places.ts';

const line = (page: string, title: string, about: string, more = ''): string =>
  `- [${title}](${SLOTS.page(page)}): ${about.replaceAll(/\s+/g, ' ').trim()}${more}`;

/**
 * The overview of all documents for language models (`llms.txt`): each page as a text with a line about it, and each part of
 * the OpenAPI document. The background comes under `Optional`, which the convention lets readers leave out.
 */
export function overviewText(openApi: ApiDocument): string {
  const tags = openApi['tags'] as { name: string; description: string }[];
  const sections = SECTIONS.map(({ title, guides }) => [
    title === 'Background' ? 'Optional' : title,
    guides.map(({ name, title: guide, about }) => line(name, guide, about)),
  ]);
  const reference = [
    line('api', 'The management API', 'Every call in a line, and the answers that calls share.'),
    ...tags.map(({ name, description }) => {
      const page = pageOfTag(name);
      return line(page, name, description, ` As OpenAPI: [${page}.json](${SLOTS.file(`${page}.json`)})`);
    }),
    line('events', 'Devices and webhooks', 'Every topic and every message, with its fields and bounds.'),
    line('deprecations', 'Deprecations', 'The parts that a later release removes.'),
  ];
  const [guides, ...others] = sections;
  const written = [guides!, ['Reference', reference] as const, ...others].map(
    ([title, lines]) => `## ${String(title)}\n\n${(lines as string[]).join('\n')}\n`,
  );
  return `# Lapel

> Lapel manages wearable cameras: a REST call becomes a command to a device over MQTT, and its result a signed webhook.

Each page of the documents is here as Markdown. The whole interface is in [openapi.json](${SLOTS.document('openapi.json')}) and
[asyncapi.json](${SLOTS.document('asyncapi.json')}), which are too long for most contexts; each subject has a part of its own.

${written.join('\n')}`;
}
