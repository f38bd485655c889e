export interface SecretCase {
  readonly kind: string;
  readonly text: string;
  /** None of them may be left. */
  readonly secrets: readonly string[];
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
let seed = 7;

/** Made up from a seed, so that no scanner finds a whole one in this file. */
function made(length: number, alphabet = letters): string {
  let text = '';
  while (text.length < length) {
    seed = (seed * 48_271) % 2_147_483_647;
    text += alphabet[seed % alphabet.length]!;
  }
  // Every real one has a digit.
  return `${text.slice(0, -1)}${alphabet.includes('7') ? '7' : text.at(-1)!}`;
}

const hex = (length: number) => made(length, '0123456789abcdef');
const base64 = (length: number) => made(length, `${letters}+/`);
const upper = (length: number) => made(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');
const lines = (count: number) => Array.from({ length: count }, () => base64(64));
const password = ['hunter2', 'Tide'].join('!');

function issued(kind: string, ...parts: readonly string[]): SecretCase {
  const secret = parts.join('');
  return { kind, text: `It said: ${secret} was refused.`, secrets: [secret, parts.at(-1)!] };
}

/** `§` stands for the secret. */
function within(kind: string, template: string, secret = password): SecretCase {
  return { kind, text: template.replaceAll('§', secret), secrets: [secret] };
}

/** A private key: no line of it may be left. */
function page(kind: string, head: string, body: readonly string[], foot: string, join = '\n'): SecretCase {
  return { kind, text: ['see:', head, ...body, foot, 'done'].filter((line) => line !== '').join(join), secrets: body };
}

const phrase = `${'legal winner thank year wave sausage worth useful '.repeat(2)}legal winner thank year wave sausage worth title`;

const begin = (name: string) => `-----BEGIN ${name}-----`;
const end = (name: string) => `-----END ${name}-----`;

export const secretCorpus: readonly SecretCase[] = [
  // What issuers make.
  issued('Anthropic', 'sk-', 'ant-api03-', made(80)),
  issued('OpenAI project', 'sk-', 'proj-', made(60)),
  issued('OpenAI', 'sk', '-', made(48)),
  issued('OpenRouter', 'sk-', 'or-v1-', hex(64)),
  issued('Stripe secret', 'sk_', 'live_', made(24)),
  issued('Stripe restricted', 'rk_', 'live_', made(24)),
  issued('GitHub', 'gh', 'p_', made(36)),
  issued('GitHub app', 'gh', 's_', made(36)),
  issued('GitHub fine-grained', 'github', '_pat_', made(22), '_', made(59)),
  issued('GitLab', 'gl', 'pat-', made(20)),
  issued('GitLab runner', 'gl', 'rt-', made(20)),
  issued('npm', 'npm', '_', made(36)),
  issued('PyPI', 'py', 'pi-AgEIcHlwaS5vcmc', made(80)),
  issued('RubyGems', 'ruby', 'gems_', hex(48)),
  issued('Docker Hub', 'dckr', '_pat_', made(27)),
  issued('Slack bot', 'xo', 'xb-', '123456789012-', made(24)),
  issued('Slack app', 'xa', 'pp-1-A0123-', made(40)),
  issued('Hugging Face', 'h', 'f_', made(34)),
  issued('AWS key id', 'AK', 'IA', upper(16)),
  issued('AWS temporary', 'AS', 'IA', upper(16)),
  issued('Google API', 'AI', 'za', made(35)),
  issued('Google client', 'GOC', 'SPX-', made(28)),
  issued('Google OAuth', 'ya', '29.', made(60)),
  issued('Google refresh', '1/', '/0', made(40)),
  issued('SendGrid', 'S', 'G.', made(22), '.', made(43)),
  issued('Vault', 'hv', 's.', made(24)),
  issued('Vault batch', 'hv', 'b.', made(90)),
  issued('Terraform Cloud', made(14), '.atlas', 'v1.', made(60)),
  issued('Groq', 'gs', 'k_', made(52)),
  issued('xAI', 'xa', 'i-', made(80)),
  issued('Tavily', 'tv', 'ly-', made(32)),
  issued('Perplexity', 'pp', 'lx-', made(48)),
  issued('NVIDIA', 'nv', 'api-', made(64)),
  issued('DigitalOcean', 'do', 'p_v1_', hex(64)),
  issued('webhook secret', 'wh', 'sec_', made(32)),
  issued('Shopify', 'sh', 'pat_', hex(32)),
  issued('Replicate', 'r', '8_', made(37)),
  issued('Linear', 'lin', '_api_', made(40)),
  issued('Notion', 'nt', 'n_', made(46)),
  issued('Figma', 'fi', 'gd_', made(40)),
  issued('Databricks', 'da', 'pi', hex(32)),
  issued('PlanetScale', 'psc', 'ale_tkn_', made(43)),
  issued('Supabase', 'sb', 'p_', hex(40)),
  issued('Grafana', 'gl', 'sa_', made(32), '_', hex(8)),
  issued('Sentry', 'sn', 'trys_', made(60)),
  issued('New Relic', 'NR', 'AK-', upper(27)),
  issued('Postman', 'PM', 'AK-', hex(24), '-', hex(34)),
  issued('Doppler', 'dp', '.pt.', made(43)),
  issued('Atlassian', 'AT', 'ATT3', made(180)),
  issued('Mailchimp', hex(32), '-us', '12'),
  issued('Brevo', 'xk', 'eysib-', hex(64)),
  issued('Square', 'sq', '0atp-', made(22)),
  issued('Telegram', '123456789', ':', `AA${made(33)}`),
  issued('Discord bot', `M${made(23)}`, '.', made(6), '.', made(38)),
  issued('age', 'AGE-SECRET', '-KEY-1', upper(58)),
  issued('JSON Web Token', 'ey', `J${made(20)}`, '.', `ey${made(40)}`, '.', made(43)),
  within('a key behind an escape', `{"text":"first\\n${'s'}k-ant-§"}`, made(40)),
  within('a key in an encoded address', 'https://x.example/?q=a%3Dgh' + 'p_§', made(36)),
  within('recovery phrase', 'Recovery phrase, shown this once. Write it down:\n\n§\n', phrase),
  // Addresses that can be written to.
  within('Slack webhook', 'https://hooks.slack.com/services/§', `T0${upper(8)}/B0${upper(8)}/${made(24)}`),
  within('Discord webhook', 'https://discord.com/api/webhooks/123456789012345678/§', made(68)),
  within('Teams webhook', 'https://tide.webhook.office.com/webhookb2/§', `${hex(32)}@${hex(32)}/IncomingWebhook/${hex(32)}`),
  within('Zapier webhook', 'https://hooks.zapier.com/hooks/catch/§/', `12345/${made(8)}`),
  within('Azure SAS', 'https://tide.blob.core.windows.net/c/f?sv=2022-11-02&se=2026-12-01&sig=§&sp=r', `${base64(40)}%3D`),
  within('presigned S3', 'https://b.s3.amazonaws.com/f?X-Amz-Expires=60&X-Amz-Signature=§', hex(64)),
  within('a key in a query', 'GET https://maps.example/api?q=x&key=§ 403', made(39)),
  // Private keys.
  page('RSA', begin('RSA PRIVATE KEY'), lines(8), end('RSA PRIVATE KEY')),
  page('PKCS 8', begin('PRIVATE KEY'), lines(8), end('PRIVATE KEY')),
  page('OpenSSH', begin('OPENSSH PRIVATE KEY'), lines(8), end('OPENSSH PRIVATE KEY')),
  page('PGP', begin('PGP PRIVATE KEY BLOCK'), ['Version: GnuPG v2', ...lines(8), '=aB3d'].slice(1), end('PGP PRIVATE KEY BLOCK')),
  page(
    'encrypted',
    `${begin('RSA PRIVATE KEY')}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n`,
    lines(8),
    end('RSA PRIVATE KEY'),
  ),
  page('in a JSON text', begin('PRIVATE KEY'), lines(8), end('PRIVATE KEY'), '\\n'),
  page('the first page', begin('PRIVATE KEY'), lines(8), ''),
  page('a later page', '', lines(8), ''),
  page('the last page', '', [...lines(3), `${base64(40)}==`], end('PRIVATE KEY')),
  page('PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1', [base64(48)], ''),
  // Logins in addresses.
  within('https', 'git clone https://ada:§@git.example/x.git'),
  within('postgres', 'DATABASE_URL=postgres://ada:§@db.example:5432/tide'),
  within('redis without a name', 'redis://:§@cache.example:6379/0'),
  within('a password with @', 'mysql://ada:§@db.example/x', 'p@ss7w@rd'),
  within('a password with /', 'postgres://ada:§@db.example/x', 'p/ss7/w0rd'),
  within('a password with both', 'amqp://ada:§@mq.example//', 'a/b@c:d7'),
  within('several hosts', 'mongodb+srv://ada:§@a.example,b.example/x?retryWrites=true'),
  within('a token for a name', 'https://§@github.com/tide/quay.git', made(40)),
  within('Sentry DSN', 'https://§@o1.ingest.sentry.io/2', hex(32)),
  // Headers.
  within('bearer', 'curl -H "Authorization: Bearer §" https://x.example', made(32)),
  within('basic', 'Authorization: Basic §', `${base64(24)}==`),
  within('bearer in JSON', '{"authorization":"Bearer §"}', made(32)),
  within('X-Api-Key', 'X-Api-Key: §', made(32)),
  within('PRIVATE-TOKEN', 'PRIVATE-TOKEN: §', made(20)),
  within('X-Auth-Token', "'X-Auth-Token': '§'", made(20)),
  within('Cookie', 'Cookie: theme=dark; sid=§', made(32)),
  within('Set-Cookie', 'set-cookie: session=§; Path=/; HttpOnly', made(32)),
  within('own scheme', 'Authorization: HMAC-SHA256 §', base64(44)),
  // Connection strings.
  within('AccountKey', 'DefaultEndpointsProtocol=https;AccountName=tide;AccountKey=§;EndpointSuffix=core.windows.net', `${base64(86)}==`),
  within('SharedAccessKey', 'Endpoint=sb://tide.example/;SharedAccessKeyName=Root;SharedAccessKey=§', `${base64(43)}=`),
  within('Password=', 'Server=db;User Id=ada;Password=§;Encrypt=true'),
  within('Pwd=', 'Server=db;Uid=ada;Pwd=§;'),
  within('JDBC', 'jdbc:postgresql://db/tide?user=ada&password=§'),
  // Environment and configuration.
  within('AWS secret', 'aws_secret_access_key = §', base64(40)),
  within('AWS secret exported', 'export AWS_SECRET_ACCESS_KEY=§', base64(40)),
  within('AWS session', 'AWS_SESSION_TOKEN="§"', base64(200)),
  within('.env', 'NODE_ENV=production\nDB_PASSWORD=§\nPORT=3000'),
  within('.env with words', 'VAULT_PASSPHRASE=§', 'correct horse battery staple'),
  within('.env in quotes', "SECRET_KEY='§'", made(50)),
  within('recovery phrase of the sync', 'export THREADKEEPER_SYNC_PHRASE="§"', phrase),
  within('Azure OpenAI', 'AZURE_OPENAI_KEY=§', hex(32)),
  within('Azure storage', 'AZURE_STORAGE_KEY=§', `${base64(86)}==`),
  within('Cohere', "cohereKey: '§'", made(40)),
  within('Supabase service role', 'SUPABASE_SERVICE_ROLE_KEY=§', made(40)),
  within('Django', "SECRET_KEY = 'django-insecure-§'", made(50)),
  within('Rails', 'secret_key_base: §', hex(128)),
  within('PGPASSWORD', 'PGPASSWORD=§ psql -h db'),
  within('MYSQL_PWD', 'MYSQL_PWD=§'),
  within('DB_PASS', 'DB_PASS=§', 'swordfish'),
  within('YAML', 'spring:\n  datasource:\n    password: §\n    url: jdbc:x'),
  within('YAML with words', 'backup:\n  passphrase: §\n  keep: 7', 'correct horse battery staple'),
  within('properties', 'spring.datasource.password=§'),
  within('.npmrc', '//registry.example/:_authToken=§', made(36)),
  within('.npmrc, old', '_auth=§', `${base64(30)}==`),
  within('Kubernetes', 'kind: Secret\ndata:\n  password: §', `${base64(20)}==`),
  within('a container’s variable', '- name: DB_PASSWORD\n  value: §'),
  within('a flag in a list', '"args": ["-y", "@tide/mcp", "--api-key", "§"]', hex(16)),
  within('a flag in a list of several lines', '"args": [\n  "--quay-token",\n  "§"\n]', hex(16)),
  within('XML', '<server><username>ada</username><password>§</password></server>'),
  within('XML attribute', '<add key="ApiKey" value="§" />', made(32)),
  within('INI', '[db]\nuser = ada\npassword = §\n'),
  within('PHP', "'password' => '§',"),
  within('PHP define', "define('DB_PASSWORD', '§');"),
  within('Terraform', 'master_password = "§"'),
  within('Ruby', ':api_key => "§"', made(24)),
  within('Go', 'apiKey := "§"', made(24)),
  within('Java', 'private static final String CLIENT_SECRET = "§";', made(24)),
  within('a passphrase in quotes', 'passphrase: "§"', 'correct horse battery staple'),
  within('JSON aws_secret_access_key', '{"aws_secret_access_key":"§"}', base64(40)),
  within('JSON dbPassword', '{"dbPassword": "§"}'),
  within('JSON x-api-key', '{"x-api-key": "§"}', made(20)),
  within('JSON secretKey', '{"secretKey": "§"}', made(20)),
  within('JSON within a text', '{"body":"{\\"refresh_token\\":\\"§\\"}"}', made(40)),
  within('JSON client_secret', '{"client_secret":"§"}', made(24)),
  within('a short password in JSON', '{"password":"§"}', 'qu4y'),
  // Commands.
  within('curl -u', 'curl -u ada:§ https://x.example'),
  within('curl --user', "curl --user 'ada:§' https://x.example"),
  within('--password', 'tide login --user ada --password § --json'),
  within('--password=', 'tide login --password=§'),
  within('--token', 'tide login --token §', made(24)),
  within('--api-key', 'tide --api-key "§"', made(24)),
  within('PowerShell', '$p = ConvertTo-SecureString "§" -AsPlainText -Force'),
  within('mysql -p', 'mysql -h db -u root -p§ tide'),
  within('sshpass', "sshpass -p '§' ssh ada@x.example"),
  within('docker login', 'docker login -u ada -p § registry.example'),
  within('redis-cli', 'redis-cli -h x -a § ping'),
  within('openssl', 'openssl rsa -in k.pem -passin pass:§'),
  within('sudo -S', "echo '§' | sudo -S id"),
  within('curl cookie', 'curl -b "session=§" https://x.example', made(32)),
  within('netrc', 'machine x.example login ada password §'),
  within('netrc in lines', 'machine x.example\n  login ada\n  password §\n'),
  within('pgpass', 'db.example:5432:tide:ada:§'),
  within('SQL', "ALTER USER ada WITH PASSWORD '§';"),
  within('SQL identified by', "CREATE USER ada IDENTIFIED BY '§';"),
  within('log line', 'level=info msg=login user=ada password=§ ok=true'),
  within('URL query', '/reset?token=§&next=/', made(24)),
  // Prose.
  within('the password is', 'The password is §, do not tell.'),
  within('my API key is', 'my API key is §', made(24)),
  within('password:', 'Password: §'),
  within('api key:', 'api key: §', made(24)),
  within('seed phrase', 'seed phrase: §', 'abandon ability able about above absent absorb abstract absurd abuse access accident'),
  within('a secret behind its bcrypt hash', 'password_hash = §', `$2b$12$${made(53)}`),
];

/** The name `ada` may not be left. */
export const homes: readonly string[] = [
  '/home/ada/notes',
  '/Users/ada/notes',
  '/var/home/ada/x',
  '/mnt/c/Users/ada/x',
  '/c/Users/ada/x',
  'C:\\Users\\ada\\x',
  'C:\\\\Users\\\\ada\\\\x',
  'c:/Users/ada/x',
  'file:///home/ada/x',
  'file:///c%3A/Users/ada/x',
  'C:\\Users\\ada lovelace\\Documents',
  '\\\\wsl$\\Ubuntu\\home\\ada\\x',
  '\\\\wsl.localhost\\Debian\\home\\ada',
  '%2Fhome%2Fada%2Fx',
  '-home-ada-work-tide',
  '-Users-ada-work',
  '/.claude/projects/-home-ada-tide/1.jsonl',
  'C--Users-ada-work',
  '-var-home-ada-tide',
  'ada@x:/home/ada$'.slice(4),
  'vscode-remote://ssh-remote%2Bquay/home/ada/x',
  '"cwd":"/home/ada"',
  '\\n/home/ada/x',
  '/usr/home/ada/x',
  '/export/home/ada/x',
  'D:\\Documents and Settings\\ada\\x',
];
