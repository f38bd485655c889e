import { foldNames } from './foldPath';
import { globMatcher, nameMatcher } from './glob';

/** Folders in which everything is one, wherever they lie. */
const folders = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.gcloud', '.git', '.secrets', '.password-store', '.bitcoin', '.ethereum', '.electrum']);

/** Names of files and folders that hold what they say. */
const names = new Set(['secret', 'secrets', 'credentials', 'credential']);

/** Whole names of files. */
const files = new Set([
  '.env', '.envrc', '.flaskenv', '.dev.vars', '.terraformrc', 'terraform.rc', 'password', 'passwords', 'passphrase', 'passwd', 'shadow', '.token', '.tokens', '.password', '.passwords', 'token.json', 'token.pickle', 'auth.json', '.auth.json',
  'master.key', 'wallet.dat', 'wallet.json', 'accesskeys.csv', 'rootkey.csv', 'accesstokens.json', 'azureprofile.json', 'storagestate.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pypirc', 'pip.conf', '.netrc', '_netrc', '.hgrc',
  '.pgpass', 'pgpass.conf', '.my.cnf', '.mylogin.cnf', '.htpasswd', '.dockercfg', '.dockerconfigjson', 'kubeconfig', '.git-credentials', '.vault-token', '.boto', '.s3cfg', 'rclone.conf', '.rclone.conf', '.sentryclirc', '.databrickscfg',
  'appsettings.json', 'local.settings.json', 'connectionstrings.config', 'wp-config.php', 'localsettings.php', 'local_settings.py', 'settings_local.py', 'sftp-config.json', '.ftpconfig', 'ftpconfig.json', '.remote-sync.json', 'sitemanager.xml', 'filezilla.xml',
  '.histfile', '.zhistory', 'fish_history', 'consolehost_history.txt', 'login data', 'logins.json', 'key3.db', 'key4.db', 'signons.sqlite', 'cookies.sqlite', 'cookies.txt',
]);

/** Patterns of names of files. */
const patterns = [
  '.env.*', '.env[-_]*', '*.env', '.dev.vars.*', '*.pem', '*.key', '*.p8', '*.p12', '*.pfx', '*.jks', '*.bks', '*.keystore', '*.kdb', '*.kdbx', '*.keychain', '*.keychain-db', '*.ppk', '*.asc', '*.gpg', '*.pgp', '*.age', '*.jwk', '*.ovpn', '*.publishsettings',
  'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', 'ssh_host_*_key', 'secring.*', 'utc--*', 'wg[0-9].conf', 'credentials.*', 'secret.*', 'secrets.*', '*.secret', '*.secrets', '*credential*.json', 'client[-_]secret*.json', '*[-_]client[-_]secret*.json', '*secrets.json', '*[-_]secret.json', '*firebase-adminsdk*.json',
  'service-account*.json', 'service_account*.json', '*serviceaccount*.json', '*-token.json', '*_token.json', '*_accesskeys.csv', '*.tfstate', '*.tfstate.*', '*.tfvars', '*.tfvars.json', '*.kubeconfig', '*kubeconfig*.yaml', '*kubeconfig*.yml', 'appsettings.*.json',
  '.vault_pass*', 'vault_pass*', 'vault-pass*', '.*_history', 'dbeaver-data-sources*.xml', '*.har',
].map(nameMatcher);

/** Names that say what they hold, when what is behind them is data and no program: `token.txt`, but not `token.ts`. */
const stems = [
  'password', 'passwords', 'passwd', 'passphrase', 'passphrases', 'passwort', 'contraseñas', 'mots-de-passe', '密码', '*[-_]password', '*[-_]passwords', 'passwords[-_]*', 'token', '*[-_]token', 'apitoken', 'accesstoken', 'refreshtoken',
  'apikey', 'apikeys', 'api[-_]key', 'api[-_]keys', '*[-_]apikey', '*[-_]apikeys', '*[-_]api[-_]key', '*[-_]api[-_]keys', 'secret[-_]key', 'secretkey', 'private[-_]key', 'privatekey', '*[-_]secret', '*[-_]secrets', '*[-_]credentials',
  'mnemonic', 'seed[-_]phrase', 'seedphrase', 'recovery[-_]codes', 'recovery[-_]keys', 'backup[-_]codes',
].map(nameMatcher);
const dataEndings = new Set(['txt', 'text', 'csv', 'tsv', 'yml', 'yaml', 'xml', 'ini', 'cfg', 'conf', 'properties', 'toml', 'plist', 'xlsx', 'xls', 'ods', 'doc', 'docx', 'odt', 'rtf', 'pdf', 'db', 'dat', 'bin', 'b64', 'enc', 'bak', 'old', 'orig', 'log']);

/** What is one only where it lies. */
const places = [
  '.config/gh/hosts.yml', '.config/hub', '.config/{gcloud,doctl,heroku,op,sops,rclone,stripe,glab-cli,filezilla}/**', '.filezilla/**', '.m2/settings*.xml', '.gradle/gradle.properties', '.cargo/credentials*', '.gem/credentials', '.bundle/config', '.nuget/nuget.config',
  '.dbt/profiles.yml', '.snowsql/config', '.oci/**', '.bluemix/**', '.fly/config.yml', '.wrangler/config/**', '.circleci/cli.yml', '.influxdbv2/configs', '.mc/config.json', '.terraform.d/*.json', '.pulumi/credentials.json', '.vscode/sftp.json', '.idea/datasources*.xml', '.idea/webservers.xml',
  '.claude/.credentials.json', '.codex/auth.json', 'usersecrets/**', 'wireguard/*.conf', 'etc/sudoers', '*.agilekeychain/**', '*.opvault/**',
].map((pattern) => globMatcher(`**/${pattern}`));

/** Made to be read by everybody, whatever else they are called. */
const harmless = [
  '*.example', '*.sample', '*.template', '*.tmpl', '*.dist', '*.pub', '*.schema.json', '.env.example.*', '.env.schema', '.env.defaults',
  ...['example', 'sample', 'template'].flatMap((kind) => [`*[-_.]${kind}.*`, `${kind}.env`, `*[-_.]${kind}`]),
].map(nameMatcher);

/** Whether a path looks as if it held secrets: such files are asked about every time, and never searched. */
export function looksSecret(path: string, isFolder = false): boolean {
  const folded = foldNames(path);
  const parts = folded.split('/');
  if (parts.some((part) => folders.has(part))) return true;
  const name = parts.at(-1) ?? '';
  if (names.has(name)) return true;
  return !isFolder && !harmless.some((matches) => matches(name)) && (files.has(name) || isNamedSecret(name) || places.some((matches) => matches(folded)));
}

function isNamedSecret(name: string): boolean {
  if (patterns.some((matches) => matches(name))) return true;
  const dot = name.lastIndexOf('.');
  return dot > 0 && dataEndings.has(name.slice(dot + 1)) && stems.some((matches) => matches(name.slice(0, dot)));
}
