import { matchName } from './glob';

/** Names of files, in lower case, that usually hold keys, passwords or tokens. */
const secretNames = [
  '.env', '.env.*', '*.env', '.envrc', '*.pem', '*.key', '*.p8', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx', '*.ppk', '*.asc', '*.gpg',
  'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', 'credentials', 'credentials.*', '*credentials*.json', 'secret', 'secrets', 'secret.*', 'secrets.*',
  '*.secret', '*.secrets', '.npmrc', '.yarnrc', '.pypirc', '.netrc', '_netrc', '.pgpass', '.my.cnf', '.htpasswd', '.git-credentials', '.vault-token', '.boto', '.s3cfg',
  'service-account*.json', '*.tfstate', '*.tfstate.*', '*.tfvars', 'kubeconfig', '.dockercfg', 'local.settings.json', 'master.key', 'wp-config.php',
];
const secretFolders = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.gcloud', '.git', '.secrets']);
/** Made to be read by everybody. */
const harmless = ['*.example', '*.sample', '*.template', '*.dist', '*.pub', '.env.example.*'];

/** Whether a path looks as if it held secrets: such files are asked about every time, and never searched. */
export function looksSecret(path: string): boolean {
  const names = path.toLowerCase().split('/');
  const name = names.at(-1) ?? '';
  if (names.some((one) => secretFolders.has(one))) return true;
  return secretNames.some((pattern) => matchName(pattern, name)) && !harmless.some((pattern) => matchName(pattern, name));
}
