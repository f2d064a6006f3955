import { Menu, Search } from "lucide-react"
import { type ReactNode, Suspense, useState } from "react"
import { Link, useLocation, useSearch } from "wouter"
import { CONSOLE_PATH } from "../client/Base.ts"
import { Kbd } from "../ui/basics.tsx"
import { Overlay } from "../ui/dialogs/Overlay.tsx"
import { type Shortcut, useShortcuts } from "../ui/Keys.ts"
import { lazily } from "../ui/lazily.ts"
import { carried } from "../view/query/Scope.ts"
import type { NavItem } from "./NavItem.ts"
import { nextTheme } from "./Theme.ts"

const ConnectionLight = lazily(() => import("./ConnectionLight.tsx"))
const Notices = lazily(() => import("./Notices.tsx"))
const ScopeFields = lazily(() => import("./ScopeFields.tsx"))
const SidebarFoot = lazily(() => import("./SidebarFoot.tsx"))
const NavIcon = lazily(() => import("./NavIcon.tsx"))
const KeyboardHelp = lazily(() => import("./KeyboardHelp.tsx"))
const Palette = lazily(() => import("./Palette.tsx"))

/** The frame of every page: navigation, connection status, theme, keys and the signed-in user. */
export const Shell = ({
  children,
  items
}: {
  readonly children: ReactNode
  readonly items: ReadonlyArray<NavItem>
}) => {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [, go] = useLocation()
  const scope = carried(useSearch())
  useShortcuts([
    ...items.map(
      ({ href, key, path, title }): Shortcut => ({
        keys: `g ${key}`,
        says: `Go to ${title}`,
        group: "Go",
        run: () => (href === undefined ? go(`${path}${scope}`) : window.location.assign(href))
      })
    ),
    { keys: "mod+k", says: "Go anywhere", group: "Page", run: () => setPaletteOpen(true) },
    { keys: "?", says: "Show the keys", group: "Page", run: () => setHelpOpen(true) },
    { keys: "t", says: "Change the theme", group: "Page", run: nextTheme }
  ])
  return (
    <div className="flex h-full flex-col lg:flex-row">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded focus:bg-raised focus:p-2"
      >
        Skip to the content
      </a>
      <header className="no-print flex h-11 shrink-0 items-center gap-2 border-b border-line bg-panel px-3 lg:hidden">
        <button
          type="button"
          aria-label="Open the menu"
          className="btn btn-quiet px-1.5"
          onClick={() => setMenuOpen(true)}
        >
          <Menu size={18} aria-hidden />
        </button>
        <Brand />
        <span className="ml-auto min-w-0 truncate text-[12px]">
          <Suspense fallback={null}>
            <ConnectionLight />
          </Suspense>
        </span>
      </header>
      <aside
        aria-label="Sidebar"
        className="no-print hidden w-[204px] shrink-0 flex-col border-r border-line bg-panel lg:flex"
      >
        <Sidebar items={items} onHelp={() => setHelpOpen(true)} onFind={() => setPaletteOpen(true)} />
      </aside>
      <Overlay open={isMenuOpen} onClose={() => setMenuOpen(false)} title="Menu" form="left">
        <Sidebar
          items={items}
          onHelp={() => {
            setMenuOpen(false)
            setHelpOpen(true)
          }}
          onFind={() => {
            setMenuOpen(false)
            setPaletteOpen(true)
          }}
          onGo={() => setMenuOpen(false)}
        />
      </Overlay>
      <main id="content" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
        <Suspense fallback={null}>
          <Notices />
        </Suspense>
        <div className="min-h-0 flex-1">{children}</div>
      </main>
      <Overlay open={isHelpOpen} onClose={() => setHelpOpen(false)} title="Keys">
        <Suspense fallback={null}>
          <KeyboardHelp />
        </Suspense>
      </Overlay>
      {isPaletteOpen ? (
        <Suspense fallback={null}>
          <Palette items={items} onClose={() => setPaletteOpen(false)} />
        </Suspense>
      ) : null}
    </div>
  )
}

const Brand = () => (
  <Link href="/" className="flex items-center gap-2 font-semibold tracking-tight">
    <img src={`${CONSOLE_PATH}favicon.svg`} alt="" className="size-5" />
    Runplane
  </Link>
)

const NAV_LINK = "flex h-8 items-center gap-2.5 rounded-md px-2 font-medium"
const ELSEWHERE = "text-soft hover:bg-sunken hover:text-text"

interface SidebarProps {
  readonly items: ReadonlyArray<NavItem>
  readonly onHelp: () => void
  readonly onFind: () => void
  readonly onGo?: () => void
}

const Sidebar = ({ onFind, onGo, onHelp, items }: SidebarProps) => {
  const [location] = useLocation()
  const scope = carried(useSearch())
  return (
    <div className="flex h-full flex-col overflow-y-auto *:shrink-0">
      <div className="hidden h-12 items-center px-4 lg:flex">
        <Brand />
      </div>
      <button
        type="button"
        className="mx-2 mt-2 flex h-8 items-center gap-2.5 rounded-md border border-line px-2 text-muted hover:border-line-strong lg:mt-0"
        onClick={onFind}
      >
        <Search size={15} aria-hidden /> Go to
        <span className="ml-auto">
          <Kbd keys="mod+k" />
        </span>
      </button>
      <nav aria-label="Pages" className="flex flex-col gap-0.5 p-2">
        {items.map(({ href, path, title }) => {
          const isHere = location === path || location.startsWith(`${path}/`)
          const content = (
            <>
              <span className="size-4">
                <Suspense fallback={null}>
                  <NavIcon path={path} />
                </Suspense>
              </span>
              {title}
            </>
          )
          return href !== undefined ? (
            <a key={path} href={href} className={`${NAV_LINK} ${ELSEWHERE}`}>
              {content}
            </a>
          ) : (
            <Link
              key={path}
              href={`${path}${scope}`}
              aria-current={isHere ? "page" : undefined}
              {...(onGo === undefined ? {} : { onClick: onGo })}
              className={`${NAV_LINK} ${isHere ? "bg-accent-soft text-accent" : ELSEWHERE}`}
            >
              {content}
            </Link>
          )
        })}
      </nav>
      <Suspense fallback={null}>
        <ScopeFields />
      </Suspense>
      <div className="mt-auto flex flex-col gap-0.5 border-t border-line p-2">
        <span className="px-2 py-1.5 text-[12px]">
          <Suspense fallback={null}>
            <ConnectionLight />
          </Suspense>
        </span>
        <Suspense fallback={null}>
          <SidebarFoot onHelp={onHelp} />
        </Suspense>
      </div>
    </div>
  )
}
