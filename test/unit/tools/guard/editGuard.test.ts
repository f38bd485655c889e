import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { defaultEditRules, editGuard } from '../../../../src/core/tools/guard/guardedKinds';
import { timeRatio } from '../../../support/timeRatio';

/** Paths, behind a part of why they are asked about. */
const guarded: Readonly<Record<string, readonly string[]>> = {
  'VS Code runs': [
    '.vscode/settings.json',
    '.vscode/tasks.json',
    'sub/.vscode/launch.json',
    '.VSCODE/Tasks.json',
    'a.code-workspace',
    '.vs\u200bcode/tasks.json',
    '.vscode./tasks.json',
    '.vscode /tasks.json. .',
  ],
  'Editors run': ['.idea/runConfigurations/a.xml', '.zed/tasks.json', '.exrc', '.nvim.lua', '.dir-locals.el'],
  'Build servers': [
    '.github/workflows/ci.yml',
    '.github/actions/a/action.yml',
    '.gitlab-ci.yml',
    '.circleci/config.yml',
    'Jenkinsfile',
    'azure-pipelines.yml',
    '.travis.yml',
    'bitbucket-pipelines.yml',
    'CODEOWNERS',
    'renovate.json',
    'vercel.json',
  ],
  'Git runs': [
    '.husky/pre-commit',
    '.githooks/post-merge',
    'lefthook.yml',
    '.pre-commit-config.yaml',
    '.lintstagedrc.json',
    'lint-staged.config.mjs',
  ],
  'Git works': [
    '.gitignore',
    'sub/.gitattributes',
    '.gitmodules',
    '.git/hooks/pre-commit',
    '.git/config',
    'sub/.git',
    '.hg/hgrc',
    '.gitconfig',
  ],
  Containers: [
    '.devcontainer/devcontainer.json',
    '.devcontainer.json',
    'Dockerfile',
    'Dockerfile.prod',
    'docker-compose.yml',
    'compose.yaml',
    '.gitpod.yml',
  ],
  'servers from this file (MCP)': ['.mcp.json', 'mcp.json', 'sub/mcp.json', '.vscode/mcp.json'],
  'Agents take instructions': [
    'AGENTS.md',
    'sub/agents.md',
    'CLAUDE.md',
    'CLAUDE.local.md',
    'GEMINI.md',
    '.cursorrules',
    '.cursor/rules/a.mdc',
    '.github/copilot-instructions.md',
    'a.instructions.md',
    'b.prompt.md',
    '.github/prompts/x.md',
    '.claude/settings.json',
    '.claude/skills/a/run.sh',
    'skills/a/SKILL.md',
    '.clinerules',
    '.clinerules/a.md',
    '.windsurfrules',
    '.goosehints',
    '.codex/config.toml',
    'x.agent.md',
    '.github/agents/a.md',
  ],
  'A shell runs': [
    '.bashrc',
    'home/.zshenv',
    '.profile',
    '.envrc',
    'Microsoft.PowerShell_profile.ps1',
    '.config/fish/config.fish',
    '.config/systemd/user/a.service',
    'Library/LaunchAgents/a.plist',
    'mise.toml',
    '.tool-versions',
  ],
  'Notebooks and interpreters': [
    '.jupyter/jupyter_notebook_config.py',
    '.ipython/profile_default/startup/a.py',
    'sitecustomize.py',
    'conftest.py',
    'a.pth',
    '.Rprofile',
  ],
  'run scripts from this file': [
    'package.json',
    'packages/a/package.json',
    'composer.json',
    '.npmrc',
    '.yarn/releases/yarn.cjs',
    '.pnpmfile.cjs',
    'Gemfile',
    'requirements.txt',
    'requirements-dev.txt',
    'go.mod',
    'Pipfile',
    'pnpm-workspace.yaml',
  ],
  'install exactly': [
    'package-lock.json',
    'yarn.lock',
    'pnpm-lock.yaml',
    'Cargo.lock',
    'bun.lockb',
    'go.sum',
    'poetry.lock',
    'gradle.lockfile',
    '.terraform.lock.hcl',
  ],
  'Builds and tests': [
    'Makefile',
    'makefile',
    'GNUmakefile',
    'rules.mk',
    'CMakeLists.txt',
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'gradlew',
    'gradle/wrapper/gradle-wrapper.properties',
    'pom.xml',
    'setup.py',
    'setup.cfg',
    'pyproject.toml',
    'tox.ini',
    'noxfile.py',
    'build.rs',
    'Cargo.toml',
    '.cargo/config.toml',
    'Rakefile',
    'Justfile',
    'Taskfile.yml',
    'webpack.config.js',
    'vite.config.ts',
    'eslint.config.mjs',
    'plop.config.js',
    'gulpfile.js',
    '.babelrc',
    '.eslintrc.cjs',
    'app.csproj',
    'Directory.Build.props',
    'BUILD.bazel',
    'defs.bzl',
    'flake.nix',
    'meson.build',
    'configure',
  ],
};

/** Everyday work. */
const plain = [
  'src/app.ts',
  'src/app/app.config.ts',
  'src/config.ts',
  'src/build/index.ts',
  'build/readme.md',
  'src/package.ts',
  'docs/makefiles.md',
  'README.md',
  'CHANGELOG.md',
  'docs/agents/overview.md',
  'src/agent.ts',
  'src/user.service.ts',
  'src/auth.guard.ts',
  'styles/main.css',
  'data/users.json',
  'tsconfig.json',
  'src/lock.ts',
  'src/deadlock.test.ts',
  'app/models/task.py',
  'app/tasks.py',
  'index.html',
  'src/environments/environment.ts',
  'notes/plan.md',
  'analysis.ipynb',
  'github/workflows.md',
  'src/hooks/useThing.ts',
  '.editorconfig',
  'LICENSE',
  'src/git.ts',
  'docs/docker.md',
  'src/compose.ts',
];

describe('files that execute or instruct', () => {
  const guard = editGuard(defaultEditRules);

  it('are asked about, in words that say why', () => {
    const wrong = Object.entries(guarded).flatMap(([why, paths]) =>
      paths.filter((path) => !guard(path)?.includes(why)).map((path) => `${path}: ${guard(path)}`),
    );
    deepStrictEqual(wrong, []);
  });

  it('are not everyday sources and texts', () => {
    deepStrictEqual(
      plain.filter((path) => guard(path) !== null),
      [],
    );
  });

  it('are found by every choice of their patterns', () => {
    for (const glob of Object.keys(defaultEditRules)) {
      for (const one of choices(glob)) {
        const path = one
          .replaceAll('**/', 'x/')
          .replace(/\/\*\*$/, '/x')
          .replaceAll('*', 'x');
        ok(guard(path) !== null, `${glob}: ${path}`);
      }
    }
  });

  it('are what the user says: entries go over the defaults, and the last that matches counts', () => {
    const own = editGuard({
      ...defaultEditRules,
      '**/Makefile': true,
      '*.sql': false,
      'generated/*.sql': true,
      '**/.github/**': false,
      '**/.vscode/**': true,
    });
    strictEqual(own('sub/Makefile'), null);
    ok(own('GNUmakefile'));
    ok(own('db/x.SQL')?.includes('Your settings'));
    strictEqual(own('generated/x.sql'), null);
    ok(own('.github/x.md')?.includes('Your settings'));
    strictEqual(own('.vscode/settings.json'), null);
    ok(own('a.code-workspace'));
  });

  it('are decided in time that follows the length of the path, whatever it is', async () => {
    const decided = (length: number) => () => guard(`${'a'.repeat(length)}/${'b/'.repeat(length / 2)}x`);
    ok((await timeRatio(decided(1_000), decided(4_000), 20, 2)) < 20, 'not quadratic');
  });
});

function choices(glob: string): string[] {
  const pair = /\{([^{}]*)\}/.exec(glob);
  return pair
    ? pair[1]!.split(',').flatMap((choice) => choices(glob.slice(0, pair.index) + choice + glob.slice(pair.index + pair[0].length)))
    : [glob];
}
