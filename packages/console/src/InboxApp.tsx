import { LogOut, Moon, Sun, SunMoon } from "lucide-react"
import type { ReactNode } from "react"
import { Link, Route, Switch } from "wouter"
import { endSignIn } from "./client/Inbox.ts"
import { inboxStream } from "./client/InboxStream.ts"
import { ItemPage } from "./pages/inbox/ItemPage.tsx"
import { LinkPage } from "./pages/inbox/LinkPage.tsx"
import { ListPage } from "./pages/inbox/ListPage.tsx"
import { useMe } from "./pages/inbox/useInbox.ts"
import { useStream } from "./pages/inbox/useStream.ts"
import { nextTheme, type Theme, theme } from "./shell/Theme.ts"
import { UserText } from "./ui/basics.tsx"
import { useStore } from "./ui/hooks.ts"

const THEME_ICONS = { system: SunMoon, light: Sun, dark: Moon } as const satisfies Record<Theme, unknown>

/** The page of a personal link has no sign-in; every other one has. */
export const InboxApp = () => (
  <Switch>
    <Route path="/link">
      <div className="flex min-h-full flex-col">
        <Head who={null} />
        <main className="mx-auto flex w-full max-w-3xl flex-1 flex-col">
          <LinkPage />
        </main>
      </div>
    </Route>
    <Route>
      <SignedInApp />
    </Route>
  </Switch>
)

/** The questions to a person: the list, and one of them. */
const SignedInApp = () => {
  // A caller that has to sign in first has no stream.
  useStream(useMe().data !== undefined)
  return (
    <div className="flex min-h-full flex-col">
      <Head who={<Who />} />
      <Away />
      <main className="mx-auto flex w-full max-w-3xl flex-1 flex-col">
        <Switch>
          <Route path="/">
            <ListPage />
          </Route>
          <Route path="/:id">{({ id }) => <ItemPage key={id} id={id} />}</Route>
        </Switch>
      </main>
    </div>
  )
}

/** While the service does not say by itself what changes. */
const Away = () =>
  useStore(inboxStream) === "away" ? (
    <p role="status" className="mx-auto w-full max-w-3xl px-4 pt-2 text-muted" data-polling>
      The live stream is away: this page reads again every few seconds.
    </p>
  ) : null

const Head = ({ who }: { readonly who: ReactNode }) => {
  const chosen = useStore(theme)
  const Icon = THEME_ICONS[chosen]
  return (
    <header className="border-b border-line bg-panel">
      <div className="mx-auto flex h-11 w-full max-w-3xl items-center gap-2 px-4">
        {who === null ? (
          <span className="mr-auto text-[15px] font-semibold tracking-tight">Runplane</span>
        ) : (
          <Link href="/" className="mr-auto text-[15px] font-semibold tracking-tight">
            Inbox
          </Link>
        )}
        {who}
        <button type="button" className="btn btn-quiet px-2" aria-label={`Theme: ${chosen}`} onClick={nextTheme}>
          <Icon size={16} aria-hidden />
        </button>
      </div>
    </header>
  )
}

/** The person as the service knows it. */
const Who = () => {
  const me = useMe().data
  if (me === undefined) return null
  if (me.type === "anonymous") return <span className="text-muted">local, no sign-in</span>
  const leave = () => {
    endSignIn().then(
      () => window.location.reload(),
      // A reload shows whether the service still knows the cookie.
      () => window.location.reload()
    )
  }
  return (
    <>
      <UserText text={me.name} className="max-w-40 truncate text-soft" />
      <button type="button" className="btn btn-quiet px-2" aria-label="Sign out" onClick={leave}>
        <LogOut size={16} aria-hidden />
      </button>
    </>
  )
}
