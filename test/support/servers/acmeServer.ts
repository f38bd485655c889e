import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChatServer, WireError, type AcceptedChat, type ChatWire } from './chatServer';
import { textTokens } from '../messagesApi/messagesApiTokens';
import { packExtension } from '../vscode/packedExtension';
import { builtTests } from '../paths';

export interface AcmeMessage {
  /** 1: user, 2: assistant; there is no other. */
  readonly role: number;
  readonly parts: readonly {
    readonly text?: string;
    readonly call?: { readonly callId: string; readonly name: string; readonly input: object };
    readonly result?: { readonly callId: string; readonly text: string };
  }[];
}

type Fields = Readonly<Record<string, unknown>>;

/** What the Acme extension (acmeExtension.ts) asks for its answers. */
export function startAcmeServer(): Promise<ChatServer> {
  return ChatServer.start(new AcmeWire());
}

/** The Acme extension as a .vsix. */
export async function packAcme(): Promise<string> {
  const folder = join(builtTests, 'acme');
  await mkdir(folder, { recursive: true });
  await copyFile(join(builtTests, 'support', 'vscode', 'acmeExtension.js'), join(folder, 'extension.js'));
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'README.md'), 'A model and a tool for tests.\n');
  return packExtension(join(builtTests, 'acme.vsix'), folder);
}

const manifest = {
  name: 'models',
  publisher: 'acme',
  displayName: 'Acme Models',
  version: '1.0.0',
  engines: { vscode: '^1.100.0' },
  main: './extension.js',
  activationEvents: ['onStartupFinished'],
  // For `requiresAuthorization`: the user is asked who may use the models, as with those of GitHub Copilot.
  enabledApiProposals: ['chatProvider'],
  contributes: {
    languageModelChatProviders: [{ vendor: 'acme', displayName: 'Acme' }],
    languageModelTools: [
      {
        name: 'acme_tide',
        displayName: 'Tide Table',
        modelDescription: 'The next high water of a port.',
        inputSchema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
      },
    ],
    commands: [{ command: 'acme.askThreadkeeper', title: 'Acme: Ask Threadkeeper' }],
  },
};

class AcmeWire implements ChatWire<AcceptedChat> {
  readonly chatPath = '/chat';
  readonly contentType = 'application/x-ndjson';
  readonly half = '{"te';

  accept(body: Fields): AcceptedChat {
    const messages = body['messages'] as readonly AcmeMessage[];
    let open: string[] = [];
    for (const { role, parts } of messages) {
      if (role !== 1 && role !== 2) throw new WireError(400, `There is no role ${role}.`);
      const answered = parts.flatMap(({ result }) => (result ? [result.callId] : []));
      if (JSON.stringify(answered) !== JSON.stringify(open)) throw new WireError(400, 'A call has no result, or a result no call.');
      open = parts.flatMap(({ call }) => (call ? [call.callId] : []));
    }
    const texts = messages.map((message) => JSON.stringify(message.parts));
    return {
      model: 'tide-1',
      inputTokens: texts.reduce((sum, text) => sum + textTokens(text), 0),
      maxTokens: Infinity,
      last: texts.at(-1) ?? '',
      system: texts[0] ?? '',
      hasTools: (body['tools'] as unknown[]).length > 0,
    };
  }

  text(_chat: AcceptedChat, text: string): string {
    return line({ text });
  }

  thinking(): string {
    return '';
  }

  call(_chat: AcceptedChat, { id, name, json }: Parameters<ChatWire<AcceptedChat>['call']>[1], whole: boolean): string {
    return whole ? line({ call: { callId: id, name, input: JSON.parse(json) as object } }) : '';
  }

  end(): string {
    return line({});
  }

  error({ message }: WireError): string {
    return message;
  }

  get(path: string): unknown {
    return path === '/told' ? {} : undefined;
  }
}

function line(data: Fields): string {
  return `${JSON.stringify(data)}\n`;
}
