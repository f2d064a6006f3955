import { Keyboard, LogOut, type LucideIcon, Moon, Sun, SunMoon } from "lucide-react"
import { session, signOut } from "../client/Session.ts"
import { useStore } from "../ui/hooks.ts"
import { nextTheme, type Theme, theme } from "./Theme.ts"
import Who from "./Who.tsx"

const themeIcons: Readonly<Record<Theme, LucideIcon>> = { system: SunMoon, light: Sun, dark: Moon }

/** Theme, keys and the signed-in user, below the pages of the sidebar. */
export default function SidebarFoot({ onHelp }: { readonly onHelp: () => void }) {
  const { key } = useStore(session)
  const chosen = useStore(theme)
  const ThemeIcon = themeIcons[chosen]
  return (
    <>
      <button type="button" className="btn btn-quiet justify-start px-2 text-soft" onClick={nextTheme}>
        <ThemeIcon size={15} aria-hidden /> Theme: {chosen}
      </button>
      <button type="button" className="btn btn-quiet justify-start px-2 text-soft" onClick={onHelp}>
        <Keyboard size={15} aria-hidden /> Keys
      </button>
      {key === undefined ? null : <Who />}
      {key === undefined ? null : (
        <button type="button" className="btn btn-quiet justify-start px-2 text-soft" onClick={signOut}>
          <LogOut size={15} aria-hidden /> Sign out
        </button>
      )}
    </>
  )
}
