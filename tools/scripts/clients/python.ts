import { clientOperations, type Operation, SCOPES, shapeOf } from './operations.ts';
import { typesOf } from './types.ts';

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The functions after the classes read and write texts of whole documents, which the client does itself. */
const withoutFunctions = (text: string): string => {
  const end = [...text.matchAll(/^def \w+_from_dict\(/gm)].at(0)?.index;
  const last = text.lastIndexOf('\n@dataclass');
  const first = [...text.matchAll(/^def \w+_from_dict\(s: Any\)/gm)].find(({ index }) => index > last)?.index ?? end;
  return `${text.slice(0, first).trimEnd()}\n`;
};

/** The client of Python: a method for each operation, over the transport, with the types of the schemas. */
export async function pythonFiles(): Promise<Map<string, string>> {
  const { files, nameOf } = await typesOf('python', { 'python-version': '3.7' });
  const typeOf = (schema: string): string => {
    const shape = shapeOf(schema);
    if (shape.kind === 'any') return 'Any';
    return shape.kind === 'list' ? `List[types.${nameOf(shape.schema)}]` : `types.${nameOf(shape.schema)}`;
  };
  const readerOf = (answer: string | undefined): string => {
    if (answer === undefined) return '';
    const shape = shapeOf(answer);
    return shape.kind === 'object' ? `types.${nameOf(shape.schema)}.from_dict(answer.body)` : 'answer.body';
  };
  // A dict may stand for an object everywhere: with it a member can be null, which removes it.
  const inputOf = (schema: string): string =>
    `Union[${typeOf(schema)}, Mapping[str, Any]]`.replace('Union[Any, Mapping[str, Any]]', 'Any');

  function methodOf(operation: Operation): string {
    const { name, summary, method, path, params, body, bodyOptional, query, answer, ifMatch, repeatable, isPaged } =
      operation;
    const places = params.map((param) => `${snake(param.name)}: ${param.isNumber ? 'int' : 'str'}`);
    if (body !== undefined)
      places.push(bodyOptional ? `body: Optional[${inputOf(body)}] = None` : `body: ${inputOf(body)}`);
    const named = [
      ...(query === undefined ? [] : [`query: Optional[${inputOf(query)}] = None`]),
      ...(ifMatch ? ['if_match: Optional[str] = None'] : []),
      ...(repeatable ? ['idempotency_key: Optional[str] = None'] : []),
    ];
    const given = [
      `"${method}", "${path}", {${params.map((param) => `"${param.name}": ${snake(param.name)}`).join(', ')}}`,
      ...(query === undefined ? [] : ['query=query']),
      ...(body === undefined ? [] : [bodyOptional ? 'body={} if body is None else body' : 'body=body']),
      ...(repeatable ? ['repeatable=True', 'idempotency_key=idempotency_key'] : []),
      ...(ifMatch ? ['if_match=if_match'] : []),
    ].join(', ');
    const signature = ['self', ...places, ...(named.length === 0 ? [] : ['*', ...named])].join(', ');
    const result = answer === undefined ? 'None' : typeOf(answer);
    const lines = [
      `    def ${snake(name)}(${signature}) -> ${result}:`,
      `        """${summary}."""`,
      ...(answer === undefined
        ? [`        self._transport.call(${given})`]
        : [`        answer = self._transport.call(${given})`, `        return ${readerOf(answer)}`]),
      '',
    ];
    if (!isPaged || answer === undefined) return lines.join('\n');
    return [
      ...lines,
      `    def ${snake(name)}_pages(${signature}) -> Iterator[${result}]:`,
      `        """${summary}: all pages, each when it is needed."""`,
      `        def call(query: Any) -> Tuple[${result}, Answer]:`,
      `            answer = self._transport.call(${given})`,
      `            return ${readerOf(answer)}, answer`,
      '        return self._transport.pages(call, query)',
      '',
    ].join('\n');
  }

  const client = `# Generated from the OpenAPI document of Lapel.
"""A method for each operation of the API of applications."""

from typing import Any, Iterator, List, Mapping, Optional, Tuple, Union

from . import types
from .transport import Answer, Transport

_SCOPE = "${SCOPES}"


class LapelClient:
    """The API in the name of an application. It may be used by several threads.

    Access tokens are fetched and renewed by themselves. A call that creates a transaction or a rollout carries an
    Idempotency-Key, so it is repeated after a lost connection and carried out only once. Methods raise LapelError, and
    OSError when nobody answers. \`\`secret\`\` is the secret of the application, or the token of a person.
    """

    def __init__(self, base_url: str, application_id: str, secret: str, *, scope: str = _SCOPE, **options: Any) -> None:
        self._transport = Transport(base_url, application_id, secret, scope=scope, **options)

${clientOperations().map(methodOf).join('\n')}`;
  return new Map([
    ['lapel_client/client.py', client],
    [
      'lapel_client/types.py',
      `# Generated from the schemas of Lapel by quicktype.\n${withoutFunctions(files.get('stdout') ?? '')}`,
    ],
  ]);
}
