import { deepEqual, equal } from 'node:assert/strict';
import { exactTokens, hasToken } from '../../../src/core/recall/exactTokens';
import { rankPassages } from '../../../src/core/recall/rankPassages';

const tokens = (query: string) => exactTokens(query).map(({ text }) => text);

describe('tokens of a query that mean themselves', () => {
  for (const [query, expected] of [
    ['which service is on port 8007?', ['8007']],
    ['E_CONN_4711 again', ['e_conn_4711']],
    ['ECONNREFUSED when it starts', ['econnrefused']],
    ['where is src/core/ports.ts used', ['src/core/ports.ts']],
    ['what does getUserById return', ['getuserbyid']],
    ['端口8007是谁的', ['8007']],
    ['What happened in 2023, on 7 May?', []],
    ['and/or e.g. self-care in the 90s at 10:30, 3rd of three', []],
    ['LGBTQ support', []],
  ] as const)
    it(query, () => deepEqual(tokens(query), expected));

  it('stand in a text as themselves, not as part of another', () => {
    const [port] = exactTokens('8007');
    deepEqual(
      ['on 8007.', '端口8007。', 'localhost:8007/x', '18007', '8007a', '80071'].map((text) => hasToken(text, port!)),
      [true, true, true, false, false, false],
    );
  });

  it('put what has them before everything else, however well that fits', () => {
    const texts = [
      'The port of the service: which port does the service listen on? The service port is 8001.',
      'Port, service, listen: all of the services listen on a port.',
      'It was 8007 in the end.',
      'Which port does the service listen on?',
      'The service listens on port 18007.',
    ];
    for (const query of ['which port does the service listen on, 8007?', '8007', 'port 8007']) {
      const items = texts.map((text, i) => ({ text, group: 's', at: i }));
      equal(rankPassages(query, items)[0]?.item.text, 'It was 8007 in the end.', query);
    }
  });
});
