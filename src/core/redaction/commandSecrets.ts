import { hidden } from './namedSecrets';
import { isPlaceholder } from './secretValues';

/** Without its closing quote it is one that was cut off. */
const value = String.raw`(?:\\{0,3}"[^"\n]{1,200}(?:"|$)|\\{0,3}'[^'\n]{1,200}(?:'|$)|[^\s"'\x60|;&<>]{1,200})`;

const quote = String.raw`(?:\\{0,3}["'])?`;
const named = String.raw`[A-Za-z0-9_.-]{0,60}(?:passw(?:or)?d|pwd|secret|token|api_?key|access_?key|private_?key)(?:_[A-Za-z0-9]{1,10})?`;

/** Each begins with words of its own, and what follows them is bounded: linear time. The first group stays. */
const commands: readonly RegExp[] = [
  // `curl -u name:password`, `--user`, `--proxy-user`; behind other words, whose `-u` may be anything, the name ends with a colon.
  new RegExp(String.raw`((?:^|[\s"'\x60])(?:-u|-U|--user|--proxy-user)[ =]{0,3}(?:\\{0,3}["'])?(?!https?:)[A-Za-z0-9._@+%\\-]{1,80}:)(?![/:\s"'])[^\s"'\x60]{1,200}`, 'gm'),
  new RegExp(String.raw`(\bmysql(?:dump|admin|import|sh)?\b[^\n|;]{0,200}?\s-p)(?=[^\s-])${value}`, 'g'),
  new RegExp(String.raw`(\bsshpass\s{1,4}-p\s{0,4})${value}`, 'g'),
  new RegExp(String.raw`(\b(?:redis-cli|keydb-cli|valkey-cli)\b[^\n|;]{0,200}?\s(?:-a|--pass)\s{1,4})${value}`, 'g'),
  new RegExp(String.raw`(\b(?:docker|podman|helm registry|az|oc|nerdctl)\s{1,4}(?:login|acr login)\b[^\n|;]{0,200}?\s-p\s{0,4})${value}`, 'g'),
  new RegExp(String.raw`(\b(?:htpasswd|mosquitto_(?:pub|sub)|ldapsearch|ldapmodify|smbclient|rclone|7z|zip|unzip)\b[^\n|;]{0,200}?\s(?:-w|-P|-b\s{1,4}\S{1,100}\s{1,4}\S{1,60})\s{0,4})${value}`, 'g'),
  new RegExp(String.raw`(\s-pass(?:in|out)?\s{1,4}pass:)[^\s"'\x60]{1,200}`, 'g'),
  new RegExp(String.raw`(\becho\s{1,4})${value}(?=\s{0,4}\|\s{0,4}sudo\s{1,4}-S)`, 'g'),
  new RegExp(String.raw`(\bConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?)${value}`, 'gi'),
  new RegExp(String.raw`(\bnet\s{1,4}use\b[^\n]{0,200}?/user:\S{1,80}\s{1,4})${value}`, 'gi'),
  // Cookies of curl.
  new RegExp(String.raw`((?:\s-b|\s--cookie)[ =]{1,3}(?:\\{0,3}["'])?[A-Za-z0-9._-]{1,80}=)[^\n"'\x60]{1,1000}`, 'g'),
  // netrc, on one line and on several, and a PAM or SQL phrase.
  new RegExp(String.raw`(\blogin\s{1,8}\S{1,100}\s{1,8}(?:account\s{1,8}\S{1,100}\s{1,8})?password\s{1,8})(?!:|=)\S{1,200}`, 'gi'),
  new RegExp(String.raw`(\bIDENTIFIED\s{1,4}BY\s{1,4}(?:PASSWORD\s{1,4})?\\{0,3}['\"])[^'\"\n]{1,200}`, 'gi'),
  // pgpass: host:port:database:user:password
  new RegExp(String.raw`((?:(?<![^\s"'])|(?<=\\n))[A-Za-z0-9.*_-]{1,100}:(?:\d{2,5}|\*):[A-Za-z0-9_*-]{1,60}:[A-Za-z_*][A-Za-z0-9_*.-]{0,60}:)[^\s:"'\\]{3,200}(?![^\s"'\\])`, 'g'),
  // `define('DB_PASSWORD', 'x')`, `setenv("TOKEN", "x")`
  new RegExp(String.raw`(\b(?:define|setenv|putenv|setItem|setProperty|setdefault|set|put|append)\(\s{0,4}\\{0,3}["']${named}\\{0,3}["'],\s{0,4}\\{0,3}["'])[^"'\n\\]{3,400}`, 'gi'),
  // A pair of a name and a value in YAML, JSON and XML.
  new RegExp(
    String.raw`(\b(?:name|key)${quote}\s{0,3}[:=]\s{0,3}${quote}${named}${quote},?(?:\s|\\[nrt]){0,40}${quote}value${quote}\s{0,3}[:=]\s{0,3}${quote})[^\s"'<>,}\\]{3,400}`,
    'gi',
  ),
];

/** Passwords as command lines and files of credentials have them, where no name that says so stands before them. */
export function withoutCommandSecrets(text: string): string {
  return commands.reduce((safe, command) => safe.replace(command, (whole: string, kept: string) => (isPlaceholder(whole.slice(kept.length).replace(/^["']/, '')) ? whole : `${kept}${hidden}`)), text);
}
