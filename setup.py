"""Build of the package, for colcon (ament_python) and for pip alike."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "mbsim_ros"
DOCS = ["sphinx>=8", "myst-parser>=4", "furo>=2024.8.6"]
ROS = [
    "ros-rclpy[fastrtps]==9.1.*",
    "ros-ament-index-python",
    *(f"ros-{name}-msgs" for name in ("diagnostic", "geometry", "nav", "rosgraph", "sensor", "std", "trajectory")),
    "ros-visualization-msgs",
    "ros-std-srvs",
]
SHARED_FOLDERS = ("launch", "config", "urdf", "rviz", "examples", "docs")  # installed as they are into share/mbsim_ros/


def read_version() -> str:
    """Version as the package itself states it, without importing it."""
    text = Path(NAME, "__init__.py").read_text()
    return text.partition('__version__ = "')[2].partition('"')[0]


def data_files() -> list[tuple[str, list[str]]]:
    """Ament index entry, manifest, shared folders, and the executables of the nodes.

    The executables are files in lib/mbsim_ros/ rather than console scripts: pip would put those into bin/,
    where neither `ros2 run` nor `ros2 launch` looks.
    """
    files = [
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"lib/{NAME}", sorted(str(path) for path in Path("libexec").iterdir() if path.name != "node_stub")),
    ]
    for folder in SHARED_FOLDERS:
        below = sorted(path for path in Path(folder).rglob("*") if path.is_dir() and path.name != "__pycache__")
        for directory in (Path(folder), *below):
            inside = sorted(str(path) for path in directory.iterdir() if path.is_file())
            files.append((f"share/{NAME}/{directory}", inside))
    return files


setup(
    name=NAME,
    version=read_version(),
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=data_files(),
    package_data={NAME: ["bench/robots/*.urdf"]},
    python_requires=">=3.10",
    install_requires=[  # the oldest are those of Ubuntu 24.04
        "setuptools",
        "numpy>=1.26",
        "scipy>=1.11",
        "numba>=0.58",
        "transforms3d>=0.4.1",
        "lxml>=5.2",
        "PyYAML>=6.0",
        "rich>=13.7",
        "matplotlib>=3.6",
        "Pillow>=9.1",  # which matplotlib needs, too
        "xacro",
    ],
    extras_require={  # those without a rosdep key, such as viser and mujoco; ./mbsim installs all of them
        "bags": ["mcap>=1.6"],
        "view": ["viser>=1.1,<1.2", "trimesh"],
        "robots": ["example-robot-data"],
        "mjcf": ["mujoco>=3.2"],
        "lagrangian": ["casadi>=3.6.6"],
        "learning": ["gymnasium>=1.1"],
        "ros": ROS,  # for a launch without a checkout and without a ROS installation
        "docs": DOCS,
        "test": [
            *DOCS,
            "pytest>=7",
            "pytest-cov",
            "pytest-timeout",
            "pytest-xdist",
            "hypothesis",
            "pin",
            "mujoco",
            "casadi>=3.6.6",
            "gymnasium>=1.1",
            "example-robot-data",
            "ruff",
            "mypy",
            "types-PyYAML",
            "rosbags",
        ],
    },
    zip_safe=True,
    maintainer="mbsim_ros maintainers",
    maintainer_email="maintainers@example.org",
    description="Simulates URDF robots with structure-preserving integrators in a ROS 2 graph",
    license="Apache-2.0",
    entry_points={"console_scripts": ["mbsim = mbsim_ros.cli.main:main"]},
)
