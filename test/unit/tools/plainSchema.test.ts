import { deepStrictEqual, ok } from 'node:assert';
import { withPlainSchema } from '../../../src/core/tools/plainSchema';

describe('the schema of a tool of somebody else’s', () => {
  it('stays as it is where providers take it, and gets what they miss', () => {
    const spec = {
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object', properties: { at: { anyOf: [{ type: 'string' }] } }, required: ['at'] },
    };
    deepStrictEqual(withPlainSchema(spec), spec);
    deepStrictEqual(withPlainSchema({ ...spec, inputSchema: {} }).inputSchema, { type: 'object', properties: {} });
  });

  it('has no alternatives at its top, for which the whole request would be refused, and tells them in words', () => {
    const byPath = { properties: { path: { type: 'string' } }, required: ['path'] };
    const byId = { properties: { id: { $ref: '#/$defs/id' }, depth: { type: 'string' } }, required: ['id'] };
    const { description, inputSchema } = withPlainSchema({
      name: 'look',
      description: 'Looks.',
      inputSchema: {
        type: 'object',
        properties: { depth: { type: 'number' } },
        oneOf: [byPath, byId, true],
        $defs: { id: { type: 'integer' } },
        additionalProperties: false,
      },
    });
    deepStrictEqual(inputSchema, {
      type: 'object',
      properties: { path: { type: 'string' }, id: { $ref: '#/$defs/id' }, depth: { type: 'number' } },
      $defs: { id: { type: 'integer' } },
      additionalProperties: false,
    });
    deepStrictEqual(description, `Looks.\n\nWhat belongs together in the input: ${JSON.stringify({ oneOf: [byPath, byId, true] })}`);
  });

  it('says as much of long alternatives as a description has room for', () => {
    const anyOf = Array.from({ length: 200 }, (_, n) => ({ properties: { [`p${n}`]: { type: 'string' } } }));
    const { description, inputSchema } = withPlainSchema({ name: 'look', description: 'Looks.', inputSchema: { anyOf } });
    ok(description.length < 2_100 && description.endsWith('…'));
    deepStrictEqual(Object.keys(inputSchema['properties'] as object).length, 200);
  });
});
