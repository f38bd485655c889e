import { t } from '../../l10n';
import { foldNames, foldPath } from './workspacePath';
import { globMatcher, type PathMatcher } from './glob';

/** Files of which a change reaches further than its text: programs run them, or agents do what they say. */
export interface GuardedKind {
  readonly why: () => string;
  readonly globs: readonly string[];
}

/**
 * The default of `threadkeeper.tools.autoApproveEdits`, by what is said of a file. Case of letters does not count. VS Code's own list
 * (`chat.tools.edits.autoApprove`) is contained in it.
 */
export const guardedKinds: readonly GuardedKind[] = [
  { why: () => t('VS Code runs tasks, debuggers and servers from this file.'), globs: ['**/.vscode/**', '**/*.code-workspace'] },
  {
    why: () => t('Editors run programs that this file names.'),
    globs: [
      '**/{.idea,.fleet,.zed,.vs,.settings,.vim,.nvim,.theia,.nova}/**',
      '**/*.{iml,sublime-project,launch}',
      '**/{.vimrc,.exrc,.nvimrc,.nvim.lua,.emacs,.dir-locals.el}',
      '**/.emacs.d/**',
      '**/{_vimrc,Session.vim,.luarc.json}',
    ],
  },
  {
    why: () => t('Build servers run what this file says.'),
    globs: [
      '**/.{github,gitea,forgejo}/{workflows,actions}/**',
      '**/{action.yml,action.yaml,CODEOWNERS}',
      '**/.github/dependabot.{yml,yaml}',
      '**/{renovate.json,renovate.json5,.renovaterc,.renovaterc.json}',
      '**/.gitlab-ci*.{yml,yaml}',
      '**/{.gitlab,.circleci,.buildkite,.teamcity,.woodpecker,.azure-pipelines,.azuredevops,.semaphore,.ci}/**',
      '**/{azure-pipelines,bitbucket-pipelines,cloudbuild,buildspec,codefresh,appveyor}*.{yml,yaml}',
      '**/{.travis,.drone,.woodpecker,.appveyor,.cirrus,.codeclimate}.{yml,yaml}',
      '**/Jenkinsfile*',
      '**/{vercel.json,netlify.toml,fly.toml,render.yaml}',
    ],
  },
  {
    why: () => t('Git runs programs from this file.'),
    globs: [
      '**/{.husky,.githooks,.git-hooks,.lefthook,.overcommit}/**',
      '**/{lefthook,.lefthook,lefthook-local}.{yml,yaml,toml,json}',
      '**/.pre-commit-{config,hooks}.yaml',
      '**/.overcommit.yml',
      '**/{.lintstagedrc*,lint-staged.config.*,.simple-git-hooks.*,simple-git-hooks.*,.huskyrc*}',
      '**/{commitlint.config.*,.commitlintrc*}',
    ],
  },
  {
    why: () => t('Git works by this file.'),
    globs: ['**/.git', '**/{.git,.hg,.svn,.jj}/**', '**/{.gitignore,.gitattributes,.gitmodules,.gitconfig,.lfsconfig,.hgignore,.hgrc}'],
  },
  {
    why: () => t('Containers are built and started from this file.'),
    globs: [
      '**/.devcontainer/**',
      '**/{.devcontainer,devcontainer}.json',
      '**/.gitpod*',
      '**/.idx/**',
      '**/{Dockerfile,Containerfile}*',
      '**/*.{dockerfile,containerfile}',
      '**/{compose,docker-compose}*.{yml,yaml}',
      '**/{Vagrantfile,devfile.yaml}',
    ],
  },
  {
    why: () => t('Agents start servers from this file (MCP).'),
    globs: ['**/{.mcp,mcp,.mcp.local,mcp_config,mcp-config,mcp_settings,claude_desktop_config}.json', '**/.mcp/**'],
  },
  {
    why: () => t('Agents take instructions from this file.'),
    globs: [
      '**/{AGENTS,AGENT,CLAUDE,GEMINI,QWEN,CONVENTIONS,SKILL}*.md',
      '**/*.{instructions,prompt,chatmode,agent,skill}.md',
      '**/.github/copilot-instructions.md',
      '**/.github/{instructions,prompts,chatmodes,agents,skills,hooks}/**',
      '**/{.cursorrules,.windsurfrules,.clinerules,.roorules*,.goosehints,.continuerules,.rules,.augment-guidelines,.aider*}',
      '**/{.cursor,.windsurf,.clinerules,.roo,.kilocode,.continue,.goose,.junie,.amazonq,.augment,.trae,.kiro,.qodo,.claude,.codex,.gemini,.qwen,.opencode,.agents,.agent,.copilot,.openclaw,.threadkeeper}/**',
      '**/opencode.{json,jsonc}',
      '**/{SOUL,HEARTBEAT,IDENTITY}.md',
    ],
  },
  {
    why: () => t('A shell runs this file when it starts.'),
    globs: [
      '**/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zshenv,zprofile,zlogin,zlogout,kshrc,cshrc,tcshrc,login,inputrc,xprofile,xinitrc,xsession,xsessionrc,pam_environment}',
      '**/{config.fish,*profile.ps1}',
      '**/.config/{fish,systemd,autostart,environment.d}/**',
      '**/{.envrc,.direnvrc,.autoenv,.autoenv.zsh,.tool-versions,.tmux.conf,.screenrc,.gdbinit,.lldbinit,.wgetrc,.curlrc}',
      '**/{.direnv,.mise,.bashrc.d}/**',
      '**/{mise,.mise,mise.local}.toml',
      '**/{crontab,*.crontab}',
      '**/Library/Launch{Agents,Daemons}/**',
      '**/*.{service,timer,desktop,lnk,url,scf,reg,library-ms}',
      '**/{desktop,autorun}.ini',
      '**/autorun.inf',
    ],
  },
  {
    why: () => t('Notebooks and interpreters run this file when they start.'),
    globs: [
      '**/{.jupyter,.ipython,.jupyterlab}/**',
      '**/{jupyter_*config,ipython*config}.{py,json}',
      '**/kernel.json',
      '**/{.iex,.formatter,.credo}.exs',
      '**/{.ghci,.ocamlinit}',
      '**/{sitecustomize,usercustomize,conftest}.py',
      '**/*.pth',
      '**/{.Rprofile,.Renviron,.irbrc,.pryrc,.pdbrc,.node_repl_history,.noderc}',
    ],
  },
  {
    why: () => t('Package managers run scripts from this file, or take packages from where it says.'),
    globs: [
      '**/{package,composer,deno,lerna,turbo,nx,project,rush,bower}.json',
      '**/{deno.jsonc,bunfig.toml,pnpm-workspace.yaml,.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.*,.bowerrc}',
      '**/.yarn/**',
      '**/.pnp.*',
      '**/renv/activate.R',
      '**/.config/dotnet-tools.json',
      '**/{Gemfile,Podfile,Brewfile,Cartfile,cpanfile,Pipfile,Procfile*,Appfile,Fastfile}',
      '**/*.{gemspec,podspec,nuspec,cabal}',
      '**/{requirements,constraints}*.{txt,in}',
      '**/{environment,conda}*.{yml,yaml}',
      '**/{pip.conf,pip.ini,poetry.toml,uv.toml,pixi.toml,nuget.config,paket.dependencies,stack.yaml,go.mod,go.work,mix.exs,rebar.config,pubspec.yaml}',
    ],
  },
  {
    why: () => t('Package managers install exactly what this file says.'),
    globs: [
      '**/*.{lock,lockb,lockfile}',
      '**/*{-,.}lock.{json,yaml,yml,hcl}',
      '**/{npm-shrinkwrap,packages.lock}.json',
      '**/{go.sum,go.work.sum,Package.resolved,gradle.lockfile,verification-metadata.xml}',
    ],
  },
  {
    why: () => t('Builds and tests run this file.'),
    globs: [
      '**/{Makefile,GNUmakefile,BSDmakefile,Justfile,.justfile,Taskfile,Earthfile,Tiltfile,Snakefile,SConstruct,SConscript,Rakefile,Guardfile,Capfile,Thorfile,Berksfile,Dangerfile,wscript,WORKSPACE,BUILD,configure,gradlew,mvnw}',
      '**/{Makefile,Taskfile}.*',
      '**/*.{mk,mak,make,just,rake,cmake,gradle,sbt,bzl,bazel,ninja,nix,m4,ac,am}',
      '**/{CMakeLists.txt,CMakePresets.json,CMakeUserPresets.json,meson.build,meson_options.txt,.bazelrc,build.rs,build.zig,build.zig.zon,build.xml,ivy.xml,pom.xml,build.cake,server.xml,web.config,global.json,xmake.lua,Package.swift,Project.swift,Setup.hs,gradlew.bat,mvnw.cmd,phpunit.xml,phpunit.xml.dist,build.sc,flake.nix}',
      '**/{build,settings,init}.gradle.kts',
      '**/{gradle/wrapper,.mvn,.cargo,buildSrc,build-logic,rakelib}/**',
      '**/*.{csproj,fsproj,vbproj,vcxproj,wixproj,sqlproj,shproj,proj,targets,props,sln,slnx,pbxproj,xcconfig,xcscheme}',
      '**/Cargo.toml',
      '**/{.rspec,.sequelizerc,.rubocop.yml,ansible.cfg,rector.php,tslint.json,angular.json,firebase.json,dune,dune-project}',
      '**/{serverless.{yml,yaml},wrangler.{toml,json,jsonc}}',
      '**/.php-cs-fixer*.php',
      '**/.markdownlint*.{cjs,mjs}',
      '**/.remarkrc*',
      '**/.storybook/**',
      '**/{setup,noxfile,fabfile,dodo,sconstruct}.py',
      '**/{setup,tox,pytest}.{cfg,ini}',
      '**/{pyproject.toml,hatch.toml,.coveragerc,.pylintrc,mypy.ini,.mypy.ini}',
      '**/{webpack,vite,vitest,rollup,rolldown,esbuild,tsup,tsdown,rspack,rsbuild,parcel,snowpack,babel,jest,playwright,cypress,karma,wdio,nightwatch,ava,mocha,eslint,prettier,stylelint,postcss,tailwind,next,nuxt,astro,svelte,remix,gatsby,metro,react-native,electron-builder,forge,craco,vue,uno,unocss,drizzle,knexfile,release,semantic-release,plop}.{config,conf}.*',
      '**/{Gruntfile,gulpfile,knexfile,plopfile,esbuild,jakefile}.{js,cjs,mjs,ts,cts,mts}',
      '**/.{eslintrc,prettierrc,babelrc,stylelintrc,mocharc,swcrc,releaserc,nycrc}*',
    ],
  },
];

/** Why a file is asked about before every change, in words for the user; null when it is not. */
export type EditGuard = (path: string) => string | null;

/** Patterns of paths; false: asked about every time, true: `tools.approval` decides. The last one that matches counts. */
export type EditRules = Readonly<Record<string, boolean>>;

export const defaultEditRules: EditRules = Object.fromEntries(guardedKinds.flatMap(({ globs }) => globs.map((glob) => [glob, false])));

/** Entries of the user's go over the defaults, behind them: the last one that matches counts. */
export function editGuard(rules: EditRules): EditGuard {
  const own = Object.entries(rules).filter(([glob, asks]) => defaultEditRules[glob] !== asks);
  const kept = guardedKinds.flatMap(({ why, globs }) =>
    globs.filter((glob) => rules[glob] !== true).map((glob) => ({ matches: matcherOf(glob), why })),
  );
  const added = own.map(([glob, allowed]) => ({
    matches: matcherOf(glob),
    why: allowed ? null : () => t('Your settings want every change of this file to be asked about.'),
  }));
  return (path) => {
    const folded = foldNames(path);
    const rule = [...kept, ...added].findLast(({ matches }) => matches(folded));
    return rule?.why?.() ?? null;
  };
}

/** A pattern that begins at no folder holds at any depth, as in VS Code's own `chat.tools.edits.autoApprove`. */
function matcherOf(glob: string): PathMatcher {
  const folded = foldPath(glob);
  return globMatcher(folded.startsWith('/') || folded.startsWith('**/') ? folded : `**/${folded}`);
}
