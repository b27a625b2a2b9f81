import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../release/lockfile.ts';
import { clientOperations, type Operation, SCOPES, shapeOf } from './operations.ts';
import { typesOf } from './types.ts';

/** Parts of the library for devices that the client has as well. */
const SHARED = ['Json', 'JsonReader', 'JsonWriter', 'Ed25519'];
/** `package` is a word of the language. */
const wordOf = (name: string): string => (name === 'package' ? 'packageName' : name);

/** The client of Java: a method for each operation, over the transport, with the types of the schemas. */
export async function javaFiles(): Promise<Map<string, string>> {
  const { files, nameOf } = await typesOf('java', { package: 'lapel.client', 'acronym-style': 'camel' });
  const typeOf = (schema: string): string => {
    const shape = shapeOf(schema);
    if (shape.kind === 'any') return 'Object';
    return shape.kind === 'list' ? `List<${nameOf(shape.schema)}>` : nameOf(shape.schema);
  };

  function methodsOf(operation: Operation): string {
    const { name, summary, method, path, params, body, bodyOptional, query, answer, repeatable, isPaged } = operation;
    // A patch removes what is null, which only a map can say.
    const isLoose = body !== undefined && method === 'PATCH' && shapeOf(body).kind === 'object';
    const bodyType = body === undefined ? '' : isLoose ? 'Object' : typeOf(body);
    const places = [
      ...params.map((param) => `${param.isNumber ? 'long' : 'String'} ${wordOf(param.name)}`),
      ...(body === undefined ? [] : [`${bodyType} body`]),
      ...(query === undefined ? [] : [`${typeOf(query)} query`]),
    ];
    const call = [
      `new Call("${method}", "${path}", ${repeatable}, options)`,
      ...params.map((param) => `.param("${param.name}", ${wordOf(param.name)})`),
      ...(query === undefined ? [] : ['.query(query)']),
      ...(body === undefined
        ? []
        : [bodyOptional ? `.body(body == null ? new ${typeOf(body)}() : body)` : '.body(body)']),
    ].join('');
    const loose =
      isLoose && body !== undefined ? ` The body is a ${typeOf(body)}, or a map, in which a member can be null.` : '';
    const fails = 'throws IOException, InterruptedException';
    const result = answer === undefined ? 'void' : typeOf(answer);
    const read = answer === undefined ? '' : result === 'Object' ? '.body' : `.as(${result}.class)`;
    const lines = [
      `    /** ${summary}.${loose}${query === undefined ? '' : ' The query may be null.'} */`,
      `    public ${result} ${name}(${[...places, 'CallOption... options'].join(', ')}) ${fails} {`,
      `        ${answer === undefined ? '' : 'return '}transport.call(${call})${read};`,
      '    }',
      '',
    ];
    if (!isPaged) return lines.join('\n');
    return [
      ...lines,
      `    /** ${summary}: all pages, each when it is needed. The query may be null. */`,
      `    public void ${name}Pages(${[...places, `Consumer<${result}> visit`, 'CallOption... options'].join(', ')}) ${fails} {`,
      `        Call call = ${call};`,
      '        Answer page = transport.call(call);',
      '        for (; ; page = transport.next(call, page)) {',
      `            visit.accept(page${read});`,
      '            if (page.next == null) return;',
      '        }',
      '    }',
      '',
    ].join('\n');
  }

  const client = `// Generated from the OpenAPI document of Lapel.
package lapel.client;

import java.io.IOException;
import java.net.http.HttpClient;
import java.util.List;
import java.util.function.Consumer;
import lapel.client.Transport.Answer;
import lapel.client.Transport.Call;

/**
 * The API in the name of an application: a method for each operation. It may be used by several threads.
 *
 * <p>Access tokens are fetched and renewed by themselves. A call that creates a transaction or a rollout carries an
 * Idempotency-Key, so it is repeated after a lost connection and carried out only once. Methods throw {@link LapelException} for
 * an error answer.
 */
public final class LapelClient {
    private final Transport transport;

    /** The secret is that of the application, or the token of a person. */
    public LapelClient(String baseUrl, String applicationId, String secret) {
        this(HttpClient.newHttpClient(), baseUrl, applicationId, secret);
    }

    public LapelClient(HttpClient http, String baseUrl, String applicationId, String secret) {
        transport = new Transport(http, baseUrl, applicationId, secret, "${SCOPES}");
    }

${clientOperations().map(methodsOf).join('\n')}}
`;
  const types = [...files].filter(([name]) => name !== 'Converter.java');
  return new Map([
    ['lapel/client/LapelClient.java', client],
    ...types.map(([name, text]): [string, string] => [
      `lapel/client/${name}`,
      `// Generated from the schemas of Lapel by quicktype.\n${text.replace(/^import com\.fasterxml.*\n/gm, '')}`,
    ]),
    ...SHARED.map((name): [string, string] => [
      `lapel/client/${name}.java`,
      readFileSync(join(ROOT, `device/java/src/lapel/device/${name}.java`), 'utf8').replace(
        /^package lapel\.device;/m,
        'package lapel.client;',
      ),
    ]),
  ]);
}
